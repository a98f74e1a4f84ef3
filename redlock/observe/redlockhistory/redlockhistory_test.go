package redlockhistory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/checker/foreign"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/testnode"
)

const ttl = 10 * time.Second

// programs are as many programs with a client and a history each, on three servers.
func programs(t *testing.T, count int, options ...redlock.Option) (clients []*redlock.Client, histories []*bytes.Buffer, servers []*miniredis.Miniredis) {
	t.Helper()
	var addrs []string
	for range 3 {
		s := miniredis.RunT(t)
		servers, addrs = append(servers, s), append(addrs, s.Addr())
	}
	for i := range count {
		nodes, err := goredis.Open(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nodes.Close() })
		var b bytes.Buffer
		o := New(&b, Options{Process: fmt.Sprint("program-", i), OnError: func(err error) { t.Error(err) }})
		client, err := redlock.New(nodes, append(options, redlock.WithObserver(o), redlock.WithNodeTimeout(5*time.Second),
			redlock.WithRetryDelay(time.Millisecond, 5*time.Millisecond))...)
		if err != nil {
			t.Fatal(err)
		}
		clients, histories = append(clients, client), append(histories, &b)
	}
	return clients, histories, servers
}

// judged is what redlocksim check finds in the histories together.
func judged(t *testing.T, o foreign.Options, histories ...*bytes.Buffer) *foreign.Report {
	t.Helper()
	if o.Model == foreign.Lease {
		o.Lease = ttl
	}
	var files []foreign.Source
	for i, h := range histories {
		files = append(files, foreign.Source{Name: fmt.Sprintf("%d.jsonl", i), In: bytes.NewReader(h.Bytes())})
	}
	r, err := foreign.Check(o, files...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Several goroutines of several programs lock, extend and unlock: the history is good, and has all that they did.
func TestALockThatWorks(t *testing.T) {
	const clients, rounds = 3, 8
	all, histories, _ := programs(t, clients, redlock.WithFencing(redlock.Fencing{}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	values := make(chan string, 1000)
	for _, client := range all {
		for range 2 {
			wg.Go(func() {
				for range rounds {
					lease, err := client.Lock(ctx, "r", ttl)
					if err != nil {
						t.Error(err)
						return
					}
					values <- lease.Value()
					client.TryLock(ctx, "r", ttl)
					if err := lease.Extend(ctx, ttl); err != nil {
						t.Error(err)
					}
					if err := lease.Unlock(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	close(values)
	for _, m := range []foreign.Model{foreign.Lease, foreign.Owner, foreign.Fenced} {
		r := judged(t, foreign.Options{Model: m}, histories...)
		if want := clients * 2 * rounds; !r.Good() || r.Grants != want || r.Operations <= 3*want || r.Unknown > 0 {
			t.Errorf("%s: %+v, want %d grants", m, r, want)
		}
	}
	for value := range values {
		for _, h := range histories {
			if strings.Contains(h.String(), value) {
				t.Fatalf("the value %q is in the history", value)
			}
		}
	}
}

// Nodes that forget break the lock, and the history shows it.
func TestALockThatIsBroken(t *testing.T) {
	clients, histories, servers := programs(t, 2)
	lease, err := clients[0].Lock(t.Context(), "r", ttl)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		s.FlushAll()
	}
	other, err := clients[1].Lock(t.Context(), "r", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); !errors.Is(err, redlock.ErrLost) {
		t.Fatal(err)
	}
	if err := other.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range []foreign.Model{foreign.Lease, foreign.Owner} {
		r := judged(t, foreign.Options{Model: m}, histories...)
		if r.Good() || r.Findings[0].Kind != "lease-overlap" || r.Findings[0].Operations[1].File != "1.jsonl" {
			t.Errorf("%s: %+v", m, r)
		}
	}
}

// lines are the lines of a history as "type f".
func lines(t *testing.T, h string) string {
	t.Helper()
	var all []string
	for text := range strings.Lines(h) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l.Type+" "+l.F)
	}
	return strings.Join(all, "; ")
}

// A lease that nobody releases ends, and the next holder is not accused.
func TestLost(t *testing.T) {
	var b bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		x, y, z := testnode.Three()
		client, err := redlock.New([]driver.Node{x, y, z}, redlock.WithObserver(New(&b, Options{})))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := client.Lock(t.Context(), "r", ttl); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * ttl)
			synctest.Wait()
		}
	})
	const once = "invoke acquire; ok acquire; invoke release; info release"
	if got := lines(t, b.String()); got != once+"; "+once {
		t.Errorf("got %s", got)
	}
	for _, m := range []foreign.Model{foreign.Lease, foreign.Owner} {
		if r := judged(t, foreign.Options{Model: m}, &b); !r.Good() || r.Grants != 2 {
			t.Errorf("%s: %+v", m, r)
		}
	}
}

// Every order in which steps can come makes a history that can be read.
func TestOrders(t *testing.T) {
	granted := []observe.Step{observe.AttemptStarted, observe.Granted}
	for _, c := range []struct {
		steps []observe.Step
		want  string
	}{
		{[]observe.Step{observe.Queued, observe.AttemptStarted, observe.Denied, observe.Retrying, observe.AttemptStarted, observe.Denied, observe.GaveUp},
			"invoke acquire; fail acquire; invoke acquire; fail acquire"},
		{[]observe.Step{observe.Queued, observe.GaveUp}, ""},
		{[]observe.Step{observe.AttemptStarted, observe.Lost, observe.Granted}, "invoke acquire; ok acquire; invoke release; info release"},
		{append(granted, observe.ExtendStarted, observe.NotExtended), "invoke acquire; ok acquire; invoke extend; info extend"},
		{append(granted, observe.ExtendStarted, observe.ExtendStarted, observe.Extended, observe.Extended, observe.ExtendStarted, observe.Extended),
			"invoke acquire; ok acquire; invoke extend; info extend; invoke extend; ok extend"},
		{append(granted, observe.ExtendStarted, observe.ReleaseStarted, observe.Extended, observe.ExtendStarted, observe.Released),
			"invoke acquire; ok acquire; invoke extend; info extend; invoke release; ok release"},
		{append(granted, observe.ExtendStarted, observe.Lost, observe.NotExtended, observe.ReleaseStarted, observe.Released),
			"invoke acquire; ok acquire; invoke extend; info extend; invoke release; info release; invoke release; ok release"},
		{append(granted, observe.ReleaseStarted, observe.Lost, observe.Released), "invoke acquire; ok acquire; invoke release; ok release"},
	} {
		var b bytes.Buffer
		o := New(&b, Options{})
		for _, step := range c.steps {
			o.Observe(t.Context(), observe.Event{Step: step, Resource: "r", Call: "c"})
		}
		if got := lines(t, b.String()); got != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.steps, got, c.want)
		}
		if len(o.calls) > 0 {
			t.Errorf("%v: %d calls are kept", c.steps, len(o.calls))
		}
	}
}

// A full disk ends the history, and is reported once.
func TestErrorOfTheWriter(t *testing.T) {
	full, told := errors.New("no space"), 0
	var w failing
	o := New(&w, Options{OnError: func(err error) {
		if told++; !errors.Is(err, full) {
			t.Error(err)
		}
	}})
	for i := range 4 {
		if i == 2 {
			w.err = full
		}
		o.Observe(context.Background(), observe.Event{Step: []observe.Step{observe.AttemptStarted, observe.Denied}[i%2], Call: "c"})
		w.err = nil
	}
	if w.writes != 2 || told != 1 || !errors.Is(o.Err(), full) {
		t.Errorf("%d writes, told %d times, %v", w.writes, told, o.Err())
	}
}

type failing struct {
	writes int
	err    error
}

func (w *failing) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.writes++
	return len(b), nil
}
