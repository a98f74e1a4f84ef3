package redlockprom

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/testnode"
	"redlocksim/redlock/semaphore"
)

// observed makes a client over the nodes whose steps are counted, and where the counts are gathered.
func observed(t *testing.T, counted Options, nodes []*testnode.Node, options ...redlock.Option) (
	*redlock.Client, *Observer, *prometheus.Registry,
) {
	t.Helper()
	metrics := New(counted)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	var all []driver.Node
	for _, n := range nodes {
		all = append(all, n)
	}
	client, err := redlock.New(all, append(options, redlock.WithObserver(metrics))...)
	if err != nil {
		t.Fatal(err)
	}
	return client, metrics, registry
}

// The numbers follow from the times: nodes a, b and c answer after 1, 2 and 3 ms, two are a quorum, so that every round
// takes 2 ms; of a TTL of 1 s the allowance for drift takes 12 ms.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := testnode.Three()
		nodes := []*testnode.Node{a, b, c}
		client, _, registry := observed(t, Options{
			Resource:    func(r string) string { kind, _, _ := strings.Cut(r, "/"); return kind },
			WaitBuckets: []float64{0.01}, HoldBuckets: []float64{0.5}, MarginBuckets: []float64{0.8, 0.9},
		}, nodes, redlock.WithRetryDelay(10*time.Millisecond, 10*time.Millisecond))
		ctx, began := t.Context(), time.Now()
		at := func(ms int) { time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(began)) }
		must := func(err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
		}

		// Granted at 2 ms, extended at 104 ms to 1090 ms, released at 203 ms with 887 ms left.
		lease, err := client.TryLock(ctx, "r/1", time.Second)
		must(err, nil)
		at(102)
		must(lease.Extend(ctx, time.Second), nil)
		at(203)
		must(lease.Unlock(ctx), nil)

		// The attempt of 300 ms is denied at 302, and the late vote of c released. That of 312 ms has the vote of the gate, c,
		// at 315, and is denied at 317 by a and b; c has answered the release at 320. That of 327 ms has the vote of c at 330,
		// when a and b are free again and asked, and that of a at 331. It is valid until 1315 ms and counts as lost 50 ms
		// earlier, after 934 ms.
		at(300)
		a.Hold("r/2", 30*time.Millisecond)
		b.Hold("r/2", 30*time.Millisecond)
		lease, err = client.Lock(ctx, "r/2", time.Second)
		must(err, nil)
		at(1300)
		must(lease.Unlock(ctx), redlock.ErrLost)

		// Nobody knows whether what was refused will be carried out: the release, of 2002 ms on a and b and of 2003 on c, is
		// sent again until the key has expired, which is four times, the last one 800 ms later.
		at(2000)
		for _, n := range nodes {
			n.Down(true)
		}
		_, err = client.TryLock(ctx, "s", time.Second)
		must(err, redlock.ErrNoQuorum)
		at(3000)
		for _, n := range nodes {
			n.Down(false)
		}
		short, cancel := context.WithTimeout(ctx, 500*time.Microsecond)
		defer cancel()
		_, err = client.Lock(short, "s", time.Second)
		must(err, context.DeadlineExceeded)
		at(4000)
		_, err = client.TryLock(ctx, "t", 3*time.Millisecond) // of which drift and a round leave nothing
		must(err, redlock.ErrTooLate)
		at(60000)

		gathers(t, registry, "testdata/story.txt")
	})
}

// gathers compares what is gathered with a file. In that of the story, calls that end without a grant have waited for 2 ms,
// until a quorum has refused, and for their 0.5 ms; and for 2 ms.
func gathers(t *testing.T, registry *prometheus.Registry, file string) {
	t.Helper()
	want, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if err := testutil.GatherAndCompare(registry, want); err != nil {
		t.Error(err)
	}
}

// sum is that of a histogram for a resource.
func sum(t *testing.T, registry *prometheus.Registry, name, resource string) (seconds float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == resource {
				seconds = m.GetHistogram().GetSampleSum()
			}
		}
	}
	return seconds
}

// pooled is a semaphore "pool" of two permits on nodes of which two are a quorum, whose calls are counted.
type pooled struct {
	*testing.T
	*semaphore.Semaphore
	client   *redlock.Client
	metrics  *Observer
	registry *prometheus.Registry
	a, b     *testnode.Node
}

func newPooled(t *testing.T) *pooled {
	a, b, c := testnode.Three()
	client, metrics, registry := observed(t, Options{Resource: func(r string) string { return r }}, []*testnode.Node{a, b, c},
		redlock.WithRetryDelay(10*time.Millisecond, 10*time.Millisecond))
	s, err := semaphore.New(client, "pool", 2)
	if err != nil {
		t.Fatal(err)
	}
	return &pooled{t, s, client, metrics, registry, a, b}
}

// others have these resources for so long.
func (p *pooled) others(ttl time.Duration, resources ...string) {
	for _, r := range resources {
		p.a.Hold(r, ttl)
		p.b.Hold(r, ttl)
	}
}

func (p *pooled) must(err, want error) {
	p.Helper()
	if !errors.Is(err, want) {
		p.Fatalf("%v, want %v", err, want)
	}
}

// check compares how many calls of the semaphore gave up, and nobody else, and the times of a resource.
func (p *pooled) check(what string, givenUp float64, times, resource string, took time.Duration) {
	p.Helper()
	if n := testutil.ToFloat64(p.metrics.givenUp.WithLabelValues("taken", "pool")); n != givenUp {
		p.Errorf("%s: %v gave up, want %v", what, n, givenUp)
	}
	if n := testutil.CollectAndCount(p.metrics.givenUp); n > 1 {
		p.Errorf("%s: others gave up, too", what)
	}
	if got := sum(p.T, p.registry, times, resource); math.Abs(got-took.Seconds()) > 1e-9 {
		p.Errorf("%s: %v s, and it took %v", what, got, took)
	}
}

// A semaphore's call is one that waits from its beginning, or gives up once, although it looks for each permit again and again,
// or, behind others, for none.
func TestSemaphore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPooled(t)
		p.others(25*time.Millisecond, "pool/1", "pool/2")
		began := time.Now()
		permit, err := p.Acquire(t.Context(), time.Minute)
		p.must(err, nil)
		p.check("a grant", 0, "redlock_wait_seconds", permit.Resource(), time.Since(began))
		p.must(permit.Unlock(t.Context()), nil)

		p.others(time.Minute, "pool/1", "pool/2")
		began = time.Now()
		_, err = p.TryAcquire(t.Context(), time.Minute)
		p.must(err, redlock.ErrTaken)
		took := time.Since(began)
		p.check("a single look", 1, "redlock_given_up_seconds", "pool", took)

		// Between two looks: at the same instant as one, the second's own look may be cut short.
		short, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		done := make(chan error)
		for range 2 {
			go func() { _, err := p.Acquire(short, time.Minute); done <- err }()
		}
		p.must(<-done, redlock.ErrTaken)
		p.must(<-done, redlock.ErrTaken)
		took += 190 * time.Millisecond
		p.check("one that looks, and one behind it", 3, "redlock_given_up_seconds", "pool", took)

		nothing := func(context.Context, *redlock.Lease) error { return nil }
		p.must(p.HoldAll(t.Context(), time.Minute, redlock.Renewal{Wait: 50 * time.Millisecond}, nothing), redlock.ErrTaken)
		p.check("all", 4, "redlock_given_up_seconds", "pool", took+50*time.Millisecond)
	})
}

// Answers of nodes on which the wake-up does not work are counted, of those that wait and of releases.
func TestNoWakeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := testnode.Three()
		a.NoWakeUp()
		client, _, registry := observed(t, Options{Resource: func(string) string { return "all" }}, []*testnode.Node{a, b, c})
		lease, err := client.TryLock(t.Context(), "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := client.TryLock(t.Context(), "r", time.Second); !errors.Is(err, redlock.ErrTaken) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		const want = `
# HELP redlock_no_wake_up_total Answers of nodes on which the wake-up does not work.
# TYPE redlock_no_wake_up_total counter
redlock_no_wake_up_total{node="a",op="acquire"} 2
redlock_no_wake_up_total{node="a",op="release"} 1
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "redlock_no_wake_up_total"); err != nil {
			t.Error(err)
		}
	})
}

// A lease that is lost while its holder releases it, or before the holder knows of it, is held and lost once.
func TestLossAtOddTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		steps   []observe.Step
		holds   uint64
		margins uint64
	}{
		{"in the release", []observe.Step{observe.AttemptStarted, observe.Granted, observe.ReleaseStarted, observe.Lost, observe.Released}, 1, 1},
		{"in an extend", []observe.Step{observe.AttemptStarted, observe.Granted, observe.ExtendStarted, observe.Lost, observe.ReleaseStarted}, 1, 0},
		{"before the grant is reported", []observe.Step{observe.AttemptStarted, observe.Lost, observe.Granted}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			metrics := New(Options{})
			registry := prometheus.NewPedanticRegistry()
			registry.MustRegister(metrics)
			for _, s := range c.steps {
				metrics.Observe(t.Context(), observe.Event{Step: s, Op: driver.OpRelease, Resource: "r", Value: "v", Attempt: 1, Validity: time.Second})
			}
			counts := map[string]uint64{}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				counts[f.GetName()] = f.GetMetric()[0].GetHistogram().GetSampleCount()
			}
			if counts["redlock_hold_seconds"] != c.holds || counts["redlock_margin_seconds"] != c.margins || counts["redlock_wait_seconds"] != 1 {
				t.Errorf("%v", counts)
			}
			if n := testutil.ToFloat64(metrics.losses.WithLabelValues()); n != 1 {
				t.Errorf("%v losses", n)
			}
		})
	}
}

// The time that a call waits behind others of its client is waiting like any other, also if it gives up in the end.
func TestQueueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := testnode.Three()
		client, _, registry := observed(t, Options{WaitBuckets: []float64{0.01}}, []*testnode.Node{a, b, c})
		first, err := client.Lock(t.Context(), "r", time.Second) // after 2 ms
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(498*time.Millisecond, func() { _ = first.Unlock(context.Background()) }) // at 500 ms
		short, cancel := context.WithTimeout(t.Context(), 98*time.Millisecond)
		defer cancel()
		if _, err := client.Lock(short, "r", time.Second); !errors.Is(err, redlock.ErrTaken) {
			t.Fatal(err)
		}
		second, err := client.Lock(t.Context(), "r", time.Second) // from 100 ms to 504 ms
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		const want = `
# HELP redlock_given_up_total Calls that ended without a grant.
# TYPE redlock_given_up_total counter
redlock_given_up_total{reason="taken"} 1
# HELP redlock_given_up_seconds Time from the beginning of a call to its end without a grant.
# TYPE redlock_given_up_seconds histogram
redlock_given_up_seconds_bucket{le="0.01"} 0
redlock_given_up_seconds_bucket{le="+Inf"} 1
redlock_given_up_seconds_sum 0.098
redlock_given_up_seconds_count 1
# HELP redlock_wait_seconds Time from the beginning of a call to its grant.
# TYPE redlock_wait_seconds histogram
redlock_wait_seconds_bucket{le="0.01"} 1
redlock_wait_seconds_bucket{le="+Inf"} 2
redlock_wait_seconds_sum 0.406
redlock_wait_seconds_count 2
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "redlock_given_up_total", "redlock_given_up_seconds", "redlock_wait_seconds"); err != nil {
			t.Error(err)
		}
	})
}
