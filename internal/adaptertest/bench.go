//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
)

// bench is a server with a node of it, and what the node sends.
type bench struct {
	*testing.T
	adapter Adapter
	node    driver.Node
	db      *redis.Client // the test's own
	sent    Rounds
	run     string // the server's run id; "" if it has none
}

func newBench(t *testing.T, a Adapter, addr string, c Config) *bench {
	b := &bench{T: t, adapter: a, db: Admin(t, addr)}
	c.Dial = b.sent.Dial
	b.node = a.node(t, addr, c)
	b.run = b.runID()
	return b
}

func (b *bench) runID() string {
	_, after, _ := strings.Cut(b.db.Info(b.Context(), "server").Val(), "run_id:")
	id, _, _ := strings.Cut(after, "\r")
	return id
}

// step is what is done to a server, and what comes of it.
type step struct {
	before string // the keys, as set reads them; asItIs: those that the step before has left
	do     string // commands that go together, with "; " between them; those with a "!" are the test's own, and go before
	want   string // what the node's commands come to, with "; " between them: "accepted; behind 7; failed: OOM"
	after  string // the keys that are left
	sent   string // the round trips, "set | evalsha; eval"; "": any
}

const asItIs = "…"

func (b *bench) steps(all ...step) {
	b.Helper()
	for _, s := range all {
		b.step(s)
	}
}

// step does a step by itself. What is wanted of an error is a part of its text.
func (b *bench) step(s step) {
	b.Helper()
	b.set(s.before)
	replies := b.do(s.do)
	sent, after := strings.Join(b.sent.Take(), "; "), b.get()
	isAsWanted := len(replies) == len(strings.Split(s.want, "; "))
	for i, want := range strings.Split(s.want, "; ") {
		outcome, said, _ := strings.Cut(want, ": ")
		isAsWanted = isAsWanted && replies[i].outcome == outcome && strings.Contains(replies[i].err, said)
	}
	if !isAsWanted || after != s.after || s.sent != "" && sent != s.sent {
		b.Errorf("%s, with %q: got %q, leaving %q, sent %q; want %s, leaving %q, sent %q", s.do, s.before, replies, after, sent, s.want, s.after, s.sent)
	}
}

// said is a reply in words: its outcome, with a token that it tells of, and its error.
type said struct{ outcome, err string }

// do sends commands together.
func (b *bench) do(texts string) (all []said) {
	b.Helper()
	var batch []*driver.Command
	for text := range strings.SplitSeq(texts, "; ") {
		if own, is := strings.CutPrefix(text, "!"); is {
			b.ask(own)
			continue
		}
		batch = append(batch, b.command(text))
	}
	b.sent.Take()
	for i, r := range Do(b, b.node, batch...) {
		all = append(all, b.said(batch[i], r))
	}
	return all
}

// ask sends a command of the test's own.
func (b *bench) ask(text string) {
	b.Helper()
	var args []any
	for _, word := range strings.Fields(text) {
		args = append(args, word)
	}
	if err := b.db.Do(b.Context(), args...).Err(); err != nil {
		b.Fatalf("%s: %v", text, err)
	}
}

func (b *bench) said(c *driver.Command, r driver.Reply) said {
	text := r.Outcome.String()
	record := ""
	switch {
	case c.Op == driver.OpPrepare && r.Outcome != driver.Failed:
		record = b.run
	case r.Outcome == driver.Quarantined:
		record = b.db.Get(b.Context(), driver.GuardKey).Val()
	case errors.Is(r.Err, b.adapter.ErrCommands):
		text = "forbidden"
	}
	if r.Record != record {
		text += fmt.Sprintf(" with record %q instead of %q", r.Record, record)
	}
	if r.Token != 0 {
		text += fmt.Sprint(" ", r.Token)
	}
	if (r.Err != nil) != (r.Outcome == driver.Failed) {
		text += fmt.Sprint(" with error ", r.Err)
	}
	return said{text, fmt.Sprint(r.Err)}
}

const (
	mine, theirs = "this acquisition's value", "another's value"

	// TTL is that of commands which ask for one.
	TTL  = 30 * time.Second
	keep = 90 * time.Second // of counters

	anotherRun = "0123456789abcdef"
)

var operations = map[string]driver.Op{"acquire": driver.OpAcquire, "extend": driver.OpExtend, "release": driver.OpRelease, "prepare": driver.OpPrepare}

// Command reads "acquire a b".
func Command(t testing.TB, text string, ttl time.Duration) *driver.Command {
	t.Helper()
	words := strings.Fields(text)
	c := &driver.Command{Op: operations[words[0]], Keys: words[1:], Value: mine, TTL: ttl, Deadline: time.Now().Add(Patience)}
	switch c.Op {
	case 0:
		t.Fatalf("no such operation: %q", text)
	case driver.OpRelease:
		c.TTL = 0
	}
	return c
}

// command reads "acquire a b token=5 max=10s watched", "prepare max=10s run=this", "theirs release a" and "wake release a".
func (b *bench) command(text string) *driver.Command {
	b.Helper()
	var q driver.Conditions
	var words []string
	value, wake := mine, false
	for _, word := range strings.Fields(text) {
		name, number, _ := strings.Cut(word, "=")
		switch name {
		case "token":
			q.Token, _ = strconv.ParseInt(number, 10, 64)
			q.CounterTTL = keep
		case "max":
			q.MaxTTL = b.duration(number)
		case "watched":
			q.Watched = b.db.Get(b.Context(), driver.GuardKey).Val()
		case "stale":
			q.Watched = fmt.Sprintf("%s %d 10000", b.run, time.Now().Add(-time.Hour).UnixMilli())
		case "run":
			q.Watched = b.runs()[number]
		case "theirs":
			value = theirs
		case "wake":
			wake = true
		default:
			words = append(words, word)
		}
	}
	c := Command(b, strings.Join(words, " "), TTL)
	c.Value = value
	if wake {
		c.Line = &driver.Line{Turn: time.Second}
	}
	if c.Op == driver.OpPrepare {
		c.Keys = []string{driver.GuardKey}
	}
	if q != (driver.Conditions{}) {
		c.Conditions = &q
	}
	return c
}

func (b *bench) runs() map[string]string {
	return map[string]string{"this": b.run, "other": anotherRun}
}

// set makes the keys of "a=mine:20s b=theirs:forever c=list #a=5 guard=this,-11s,10s": #a is the counter of a, and the guard's
// record has the run id, since when it holds, counted from now, or 0, and the largest TTL.
func (b *bench) set(state string) {
	b.Helper()
	if state == asItIs {
		return
	}
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(b.db.FlushDB(b.Context()).Err())
	for _, field := range strings.Fields(state) {
		key, value, _ := strings.Cut(field, "=")
		var ttl time.Duration
		switch holder, life, isHeld := strings.Cut(value, ":"); {
		case value == "list":
			must(b.db.LPush(b.Context(), key, mine).Err())
			continue
		case isHeld:
			value = map[string]string{"mine": mine, "theirs": theirs}[holder]
			if life != "forever" {
				ttl = b.duration(life)
			}
		case key == "guard":
			key, value = driver.GuardKey, b.record(value)
		default:
			key = driver.TokenKey(key[1:])
		}
		must(b.db.Set(b.Context(), key, value, ttl).Err())
	}
}

// record is the guard's record of "this,-11s,10s".
func (b *bench) record(text string) string {
	run, times, is := strings.Cut(text, ",")
	if !is {
		return text
	}
	from, limit, _ := strings.Cut(times, ",")
	since := "0"
	if from != "0" {
		since = strconv.FormatInt(b.now().Add(b.duration(from)).UnixMilli(), 10)
	}
	return fmt.Sprintf("%s %s %d", b.runs()[run], since, b.duration(limit).Milliseconds())
}

// get writes the keys as set reads them. A TTL that has run down by less than 5 s is written as the whole.
func (b *bench) get() string {
	keys := b.db.Keys(b.Context(), "*").Val()
	slices.Sort(keys)
	var locks, counters, guard []string
	for _, key := range keys {
		value, ttl := b.db.Get(b.Context(), key).Val(), b.db.PTTL(b.Context(), key).Val()
		const unit = 5 * time.Second
		life := ":" + ((ttl + unit - 1) / unit * unit).String()
		if counter, is := strings.CutPrefix(key, driver.TokenKey("")); is {
			if ttl < 0 {
				life = ""
			}
			counters = append(counters, "#"+counter+"="+value+life)
			continue
		}
		if ttl < 0 {
			life = ":forever"
		}
		switch {
		case key == driver.GuardKey:
			guard = append(guard, "guard="+b.ofRecord(value, ttl))
		case value == "":
			locks = append(locks, key+"=list")
		default:
			locks = append(locks, key+"="+map[string]string{mine: "mine", theirs: "theirs"}[value]+life)
		}
	}
	return strings.Join(slices.Concat(locks, counters, guard), " ")
}

// ofRecord writes the guard's record as record reads it, with "now" for a time within 5 s of now.
func (b *bench) ofRecord(text string, ttl time.Duration) string {
	p := strings.Fields(text)
	if len(p) != 3 || ttl >= 0 {
		return text
	}
	since := p[1]
	if ms, _ := strconv.ParseInt(p[1], 10, 64); ms != 0 {
		if since = "now"; time.UnixMilli(ms).Sub(b.now()).Abs() > 5*time.Second {
			since = time.UnixMilli(ms).Sub(b.now()).Round(5 * time.Second).String()
		}
	}
	limit, _ := strconv.Atoi(p[2])
	return fmt.Sprintf("%s,%s,%v", map[string]string{b.run: "this", anotherRun: "other"}[p[0]], since, time.Duration(limit)*time.Millisecond)
}

func (b *bench) now() time.Time { return b.db.Time(context.Background()).Val() }

func (b *bench) duration(s string) time.Duration {
	b.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		b.Fatal(err)
	}
	return d
}
