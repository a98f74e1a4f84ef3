package lockprogram

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fake is a lock on everything but "taken" and "lost track of". A lease on "short" warns and is lost at once.
type fake struct{ closed bool }

func (*fake) About() About {
	return About{Library: "fake", Version: "1", Extends: true, TellsUntil: true, Fences: true, Settings: []string{"fencing"}, Server: "etcd", Protocols: []string{"consensus"}}
}

func (f *fake) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	switch resource {
	case "taken":
		return nil, Refused(errors.New("it is taken"))
	case "lost track of":
		return nil, errors.New("no answer")
	case "busy":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return fakeLease{resource, time.Now().Add(ttl)}, nil
}

func (f *fake) Close(context.Context) error { f.closed = true; return nil }

type fakeLease struct {
	resource string
	until    time.Time
}

func (l fakeLease) Unlock(context.Context) error {
	if l.resource == "gone" {
		return Refused(errors.New("it was over"))
	}
	return nil
}
func (l fakeLease) Extend(context.Context, time.Duration) error { return nil }
func (l fakeLease) Until() time.Time                            { return l.until }
func (l fakeLease) Token() (int64, bool)                        { return 7, l.resource == "fenced" }
func (l fakeLease) Lost() <-chan struct{}                       { return l.channel() }
func (l fakeLease) Expiring() <-chan struct{}                   { return l.channel() }

// Renewed tells of one renewal, of a lease on "long".
func (l fakeLease) Renewed() <-chan time.Time {
	c := make(chan time.Time, 1)
	if l.resource == "long" {
		c <- time.Now().Add(time.Hour)
	}
	return c
}

func (l fakeLease) Read(context.Context) (int64, error) { return 7, nil }

func (l fakeLease) Write(_ context.Context, number int64, note string) error {
	if number != 5 || note != "n" {
		return errors.New("not what was to be written")
	}
	return nil
}

func (l fakeLease) channel() <-chan struct{} {
	c := make(chan struct{})
	if l.resource == "short" {
		close(c)
	}
	return c
}

// conversation asks a program for one thing after the other, and gives each answer; further ones follow for "short" and "long".
func conversation(t *testing.T, requests ...string) (answers []string, err error) {
	t.Helper()
	toProgram, asks := io.Pipe()
	says, fromProgram := io.Pipe()
	ended := make(chan error)
	go func() {
		err := serve(toProgram, fromProgram, func(env Env) (Locker, error) {
			if env.Name == "nobody" {
				return nil, errors.New("there is no such client")
			}
			return &fake{}, nil
		})
		fromProgram.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(says)
	for _, r := range requests {
		if _, err := io.WriteString(asks, r+"\n"); err != nil {
			return answers, <-ended
		}
		for range 1 + 2*strings.Count(r, `"short"`) + strings.Count(r, `"long"`) - strings.Count(r, `"busy"`) {
			if !lines.Scan() {
				return answers, <-ended
			}
			answers = append(answers, lines.Text())
		}
	}
	asks.Close()
	return answers, <-ended
}

var validity = regexp.MustCompile(`"valid_ms":-?[0-9.]+`) // negative if the machine was busy for longer

// inMinutes rounds the validity in an answer.
func inMinutes(answer string) string {
	return validity.ReplaceAllStringFunc(answer, func(text string) string {
		ms, err := strconv.ParseFloat(strings.TrimPrefix(text, `"valid_ms":`), 64)
		if err != nil {
			return text
		}
		return fmt.Sprintf(`"valid_ms":%.0f`, math.Round(ms/60_000)*60_000+0) // and not −0
	})
}

const begin = `{"type":"init","id":1,"init":{"name":"c","nodes":["a:1"],"ttl_ms":1000,"node_timeout_ms":50,"settings":{"fencing":true}}}`

func TestServe(t *testing.T) {
	const ready = `{"type":"ready","re":1,"library":"fake","version":"1","can":["cancel","extend","until","token","close"],"settings":["fencing"],"server":"etcd","protocols":["consensus"]}`
	for name, c := range map[string]struct {
		requests []string
		want     string // one of the last answers, with the validity in whole minutes
	}{
		"ready":            {[]string{begin}, ready},
		"failed":           {[]string{strings.Replace(begin, `"c"`, `"nobody"`, 1)}, `{"type":"failed","re":1,"reason":"there is no such client"}`},
		"granted":          {[]string{begin, `{"type":"try-lock","id":2,"resource":"R","ttl_ms":1000}`}, `{"type":"granted","re":2,"valid_ms":0}`},
		"with a token":     {[]string{begin, `{"type":"try-lock","id":2,"resource":"fenced","ttl_ms":1000}`}, `{"type":"granted","re":2,"valid_ms":0,"token":7}`},
		"refused":          {[]string{begin, `{"type":"try-lock","id":2,"resource":"taken","ttl_ms":1000}`}, `{"type":"refused","re":2,"reason":"it is taken"}`},
		"unknown":          {[]string{begin, `{"type":"try-lock","id":2,"resource":"lost track of","ttl_ms":1000}`}, `{"type":"unknown","re":2,"reason":"no answer"}`},
		"cannot wait":      {[]string{begin, `{"type":"lock","id":2,"resource":"R","ttl_ms":1000,"wait_ms":1}`}, `{"type":"refused","re":2,"reason":"this lock does not wait"}`},
		"extended":         {[]string{begin, `{"type":"try-lock","id":2,"resource":"R","ttl_ms":1}`, `{"type":"extend","id":3,"lease":2,"ttl_ms":1}`}, `{"type":"extended","re":3,"valid_ms":0}`},
		"released":         {[]string{begin, `{"type":"try-lock","id":2,"resource":"R","ttl_ms":1}`, `{"type":"unlock","id":3,"lease":2}`}, `{"type":"released","re":3}`},
		"read":             {[]string{begin, `{"type":"try-lock","id":2,"resource":"R","ttl_ms":1}`, `{"type":"read","id":3,"lease":2}`}, `{"type":"done","re":3,"valid_ms":0,"number":7}`},
		"written":          {[]string{begin, `{"type":"try-lock","id":2,"resource":"R","ttl_ms":1}`, `{"type":"write","id":3,"lease":2,"number":5,"note":"n"}`}, `{"type":"done","re":3,"valid_ms":0}`},
		"nothing to read":  {[]string{begin, `{"type":"read","id":3,"lease":2}`}, `{"type":"refused","re":3,"reason":"there is no such lease of a transaction"}`},
		"released in vain": {[]string{begin, `{"type":"try-lock","id":2,"resource":"gone","ttl_ms":1}`, `{"type":"unlock","id":3,"lease":2}`}, `{"type":"refused","re":3,"reason":"it was over"}`},
		"no such lease":    {[]string{begin, `{"type":"unlock","id":3,"lease":2}`}, `{"type":"refused","re":3,"reason":"there is no such lease"}`},
		"not prepared":     {[]string{begin, `{"type":"prepare","id":2}`}, `{"type":"refused","re":2,"reason":"this lock needs no preparation"}`},
		"closed":           {[]string{begin, `{"type":"close","id":2}`}, `{"type":"closed","re":2}`},
		"no such request":  {[]string{begin, `{"type":"dance","id":2}`}, `{"type":"unknown","re":2,"reason":"there is no request \"dance\""}`},
		"given up":         {[]string{begin, `{"type":"try-lock","id":2,"resource":"busy","ttl_ms":1}`, `{"type":"cancel","id":3,"call":2}`}, `{"type":"unknown","re":2,"reason":"context canceled"}`},
		"lost":             {[]string{begin, `{"type":"try-lock","id":2,"resource":"short","ttl_ms":1}`}, `{"type":"lost","lease":2}`},
		"renewed":          {[]string{begin, `{"type":"try-lock","id":2,"resource":"long","ttl_ms":1}`}, `{"type":"renewed","valid_ms":3600000,"lease":2}`},
		"expiring":         {[]string{begin, `{"type":"try-lock","id":2,"resource":"short","ttl_ms":1}`}, `{"type":"expiring","lease":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			answers, err := conversation(t, c.requests...)
			for i, a := range answers {
				answers[i] = inMinutes(a)
			}
			if err != nil || !slices.Contains(answers, c.want) {
				t.Errorf("%v: %q, want %s", err, answers, c.want)
			}
		})
	}
}

func TestServeRefusesNonsense(t *testing.T) {
	for request, want := range map[string]string{
		"hello":                      "not a request",
		`{"type":"try-lock","id":2}`: `asked for "try-lock" before it was told to init`,
	} {
		if _, err := conversation(t, request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", request, err, want)
		}
	}
}

func TestSettingsThatALockDoesNotHave(t *testing.T) {
	var s struct {
		Quorum int
		WakeUp Duration `json:"wake-up"`
	}
	env := Env{Settings: []byte(`{"quorum":4,"wake-up":"50ms"}`)}
	if err := env.Read(&s); err != nil || s.Quorum != 4 || time.Duration(s.WakeUp) != 50*time.Millisecond {
		t.Errorf("%v: %+v", err, s)
	}
	env.Settings = []byte(`{"tokens":"one-node"}`)
	if err := env.Read(&s); err == nil || !strings.Contains(err.Error(), `unknown field "tokens"`) {
		t.Error(err)
	}
	if err := (Env{}).Read(&s); err != nil {
		t.Error(err)
	}
}
