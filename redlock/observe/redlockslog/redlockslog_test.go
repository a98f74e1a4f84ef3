package redlockslog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/testnode"
)

// logged is what a client logs, without the values, which are random.
func logged(t *testing.T, level slog.Level, o Options, run func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node)) string {
	return written(t, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "value" {
			return slog.Attr{}
		}
		return a
	}}, o, run)
}

// written runs a client with the options, over nodes that answer after 1, 2 and 3 ms, and gives what its logger wrote.
func written(t *testing.T, how *slog.HandlerOptions, o Options, run func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node)) string {
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		o.Logger = slog.New(slog.NewTextHandler(&b, how))
		x, y, z := testnode.Three()
		client, err := redlock.New([]driver.Node{x, y, z}, redlock.WithObserver(New(o)))
		if err != nil {
			t.Fatal(err)
		}
		run(t.Context(), client, [3]*testnode.Node{x, y, z})
		time.Sleep(time.Minute)
		synctest.Wait()
	})
	return b.String()
}

func TestRecords(t *testing.T) {
	got := logged(t, slog.LevelDebug, Options{}, func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node) {
		nodes[0].Hold("r", time.Hour)
		lease, err := c.Lock(ctx, "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		lease.Extend(ctx, time.Second)
		lease.Unlock(ctx)
	})
	const want = `
		level=DEBUG msg="redlock attempt-started" resource=r attempt=1 op=acquire
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=acquire node=a outcome="held by another" took=1ms
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=acquire node=b outcome=granted took=2ms
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=acquire node=c outcome=granted took=3ms
		level=DEBUG msg="redlock quorum-reached" resource=r attempt=1 op=acquire accepted=2 quorum=2
		level=DEBUG msg="redlock validity-computed" resource=r attempt=1 op=acquire validity=985ms
		level=DEBUG msg="redlock granted" resource=r attempt=1 op=acquire validity=985ms
		level=DEBUG msg="redlock extend-started" resource=r attempt=1 op=extend
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=extend node=a outcome="not ours any more" took=1ms
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=extend node=b outcome=extended took=2ms
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=extend node=c outcome=extended took=3ms
		level=DEBUG msg="redlock quorum-reached" resource=r attempt=1 op=extend accepted=2 quorum=2
		level=DEBUG msg="redlock validity-computed" resource=r attempt=1 op=extend validity=985ms
		level=DEBUG msg="redlock extended" resource=r attempt=1 op=extend validity=985ms
		level=DEBUG msg="redlock release-started" resource=r attempt=1 op=release
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=release node=b outcome=released took=2ms
		level=DEBUG msg="redlock node-answered" resource=r attempt=1 op=release node=c outcome=released took=3ms
		level=DEBUG msg="redlock released" resource=r attempt=1 op=release accepted=2 quorum=2
`
	if want := strings.ReplaceAll(strings.TrimPrefix(want, "\n"), "\t\t", ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Nodes b and c are free again when their noes have arrived, at 2 and 3 ms. The second attempt asks the gate, a, first.
func TestGate(t *testing.T) {
	const want = `level=DEBUG msg="redlock gate-asked" resource=r attempt=2 op=acquire node=a`
	var got []string
	for line := range strings.Lines(logged(t, slog.LevelDebug, Options{}, func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node) {
		nodes[1].Hold("r", 2*time.Millisecond)
		nodes[2].Hold("r", 2*time.Millisecond)
		if _, err := c.Lock(ctx, "r", time.Second); err != nil {
			t.Fatal(err)
		}
	})) {
		if strings.Contains(line, "gate") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(got, []string{want}) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// What harms a holder is a warning, what a healthy cluster does not show is Info, and all else is for who asks.
func TestLevels(t *testing.T) {
	run := func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node) {
		lease, err := c.Lock(ctx, "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		c.TryLock(ctx, "r", time.Second)
		nodes[0].Down(true)
		lease.Extend(ctx, time.Second)
		time.Sleep(2 * time.Second) // lost
		lease.Unlock(ctx)
	}
	const (
		info = `
			INFO node-answered extend a refused
			WARN lost
			WARN released`
		loud = `
			ERROR lost`
	)
	short := func(text string) string {
		var lines []string
		for line := range strings.Lines(text) {
			var words []string
			for _, f := range strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, `"`, ""), "msg=redlock ", "msg=")) {
				switch key, value, _ := strings.Cut(f, "="); key {
				case "level", "msg", "node", "outcome":
					words = append(words, value)
				case "op":
					if strings.Contains(line, "node=") {
						words = append(words, value)
					}
				}
			}
			lines = append(lines, "\n\t\t\t"+strings.Join(words, " "))
		}
		return strings.Join(lines, "")
	}
	if got := short(logged(t, slog.LevelInfo, Options{}, run)); got != info {
		t.Errorf("got%s\nwant%s", got, info)
	}
	own := Options{Level: func(e observe.Event) slog.Level {
		if e.Step == observe.Lost {
			return slog.LevelError
		}
		return slog.LevelDebug
	}}
	if got := short(logged(t, slog.LevelInfo, own, run)); got != loud {
		t.Errorf("with own levels got%s\nwant%s", got, loud)
	}
}

func TestLevel(t *testing.T) {
	answered := func(o driver.Outcome) observe.Event {
		return observe.Event{Step: observe.NodeAnswered, Node: observe.NodeOutcome{Outcome: o}}
	}
	for _, c := range []struct {
		event observe.Event
		want  slog.Level
	}{
		{answered(driver.Accepted), slog.LevelDebug},
		{answered(driver.Declined), slog.LevelDebug},
		{answered(driver.Behind), slog.LevelDebug},
		{answered(driver.TimedOut), slog.LevelInfo},
		{answered(driver.Refused), slog.LevelInfo},
		{answered(driver.Failed), slog.LevelInfo},
		{answered(driver.Quarantined), slog.LevelInfo},
		{observe.Event{Step: observe.Denied, Err: redlock.ErrTaken}, slog.LevelDebug},
		{observe.Event{Step: observe.NotExtended, Err: redlock.ErrNoQuorum}, slog.LevelWarn},
		{observe.Event{Step: observe.Released}, slog.LevelDebug},
		{observe.Event{Step: observe.Released, Err: redlock.ErrLost}, slog.LevelWarn},
		{observe.Event{Step: observe.Lost}, slog.LevelWarn},
	} {
		if got := Level(c.event); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.event.Step, c.event.Node.Outcome, got, c.want)
		}
	}
}

// The logger is the default one of the time of the step, not of the time when the observer was made.
func TestDefaultLogger(t *testing.T) {
	var b strings.Builder
	o := New(Options{})
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	o.Observe(t.Context(), observe.Event{Step: observe.Lost, Resource: "r", Value: "v", Attempt: 1})
	if want := `level=WARN msg="redlock lost" resource=r value=4c94485e0c21 attempt=1`; !strings.Contains(b.String(), want) {
		t.Errorf("got %q, want %s", b.String(), want)
	}
}

// A step that is not logged costs next to nothing.
func TestDisabledIsCheap(t *testing.T) {
	o := New(Options{Logger: slog.New(slog.DiscardHandler)})
	e := observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Resource: "r", Value: "v", Attempt: 1, Validity: time.Second}
	if n := testing.AllocsPerRun(100, func() { o.Observe(t.Context(), e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Fields that only some events have.
func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		event observe.Event
		want  string
	}{
		{observe.Event{Step: observe.Retrying, Op: driver.OpAcquire, Delay: time.Second, Err: redlock.ErrTaken}, "op=acquire delay=1s err=held by another"},
		{observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Validity: time.Second, Token: 7}, "op=acquire validity=1s token=7"},
		{observe.Event{Step: observe.Joined, Op: driver.OpAcquire, Node: observe.NodeOutcome{Node: "a", Outcome: driver.Accepted}}, "op=acquire node=a outcome=granted took=0s"},
		{observe.Event{Step: observe.NodeAnswered, Op: driver.OpAcquire, Late: true, Node: observe.NodeOutcome{Node: "a", Outcome: driver.Failed, Err: errors.New("ERR\r\n" + strings.Repeat("x", 1000))}},
			"op=acquire node=a outcome=failed took=0s err=ERR\\r\\n" + strings.Repeat("x", 295) + "… (1005 bytes) late=true"},
	} {
		var texts []string
		for _, a := range attributes(c.event)[3:] {
			texts = append(texts, fmt.Sprint(a))
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%v: got %s, want %s", c.event.Step, got, c.want)
		}
	}
}

// What is logged of an outage that fails hundreds of commands, at Info: that it begins, each new way of failing, and that it
// is over. It is over when the node has not failed for a second. Debug shows every failure.
func TestOutage(t *testing.T) {
	run := func(level slog.Level) (lines []string) {
		text := logged(t, level, Options{}, func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node) {
			cycle := func(d time.Duration) {
				for end := time.Now().Add(d); time.Now().Before(end); {
					lease, err := c.Lock(ctx, "r", time.Second)
					if err == nil {
						err = lease.Unlock(ctx)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			cycle(time.Second)
			nodes[0].Down(true)
			cycle(10 * time.Second)
			nodes[0].Down(false)
			cycle(500 * time.Millisecond) // too short to be the end
			nodes[0].Down(true)
			cycle(time.Second)
			nodes[0].Down(false)
			cycle(3 * time.Second)
			nodes[0].Down(true)
			cycle(100 * time.Millisecond)
		})
		for line := range strings.Lines(text) {
			if level == slog.LevelInfo || strings.Contains(line, "outcome=refused") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return lines
	}
	got := strings.Join(run(slog.LevelInfo), "\n")
	pattern := regexp.MustCompile(`^level=INFO msg="redlock node-answered" resource=r attempt=1 op=acquire node=a outcome=refused took=1ms
level=INFO msg="redlock node-recovered" node=a failures=(\d+) lasted=11.5\d*s
level=INFO msg="redlock node-answered" resource=r attempt=1 op=acquire node=a outcome=refused took=1ms$`)
	found := pattern.FindStringSubmatch(got)
	if found == nil {
		t.Fatalf("got\n%s", got)
	}
	failures, _ := strconv.Atoi(found[1])
	if all := len(run(slog.LevelDebug)); failures < 1000 || all < failures {
		t.Errorf("%d failures counted, and %d of them logged at Debug", failures, all)
	}
}

// No record shows a lock's value, at any level.
func TestNoValues(t *testing.T) {
	var values []string
	text := written(t, &slog.HandlerOptions{Level: slog.LevelDebug}, Options{}, func(ctx context.Context, c *redlock.Client, nodes [3]*testnode.Node) {
		for range 3 {
			lease, err := c.Lock(ctx, "r", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, lease.Value())
			c.TryLock(ctx, "r", time.Second)
			nodes[0].Down(true)
			nodes[1].Down(len(values) > 1)
			lease.Extend(ctx, time.Second)
			lease.Unlock(ctx)
			nodes[0].Down(false)
			nodes[1].Down(false)
			time.Sleep(2 * time.Second)
		}
	})
	for _, v := range values {
		if strings.Contains(text, v) || !strings.Contains(text, "value="+observe.Fingerprint(v)) {
			t.Errorf("%s is shown, or its fingerprint is not", v)
		}
	}
}
