//go:build linux

package soak_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/stall/retry"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/load"
	"redlocksim/live/internal/messages"
	"redlocksim/live/soak"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// The environment variables that make the test binary a client process, and one with a bug of that name.
const (
	asClient  = "REDLOCKSIM_TEST_AS_LIVE_CLIENT"
	asPlanted = "REDLOCKSIM_TEST_AS_PLANTED_CLIENT"
)

func TestMain(m *testing.M) {
	var err error
	switch name := os.Getenv(asPlanted); {
	case os.Getenv(asClient) != "":
		err = live.Client(os.Stdin, os.Stdout)
	case name != "":
		err = messages.Serve(os.Stdin, os.Stdout, func(first messages.Order, w *messages.Writer) (func(messages.Order), error) {
			c, err := load.New(first.Soak, w, planted[name])
			if err != nil {
				return nil, err
			}
			return c.Obey, nil
		})
	default:
		os.Exit(livetest.Main(m))
	}
	if err != nil {
		os.Exit(1)
	}
}

// planted are bugs between the library and a node.
var planted = map[string]func(driver.Node) driver.Node{
	// Every client is granted every lock.
	"says yes": func(n driver.Node) driver.Node {
		return node{n, func(batch []*driver.Command) {
			for _, c := range batch {
				c.Done(c, driver.Reply{Outcome: driver.Accepted})
			}
		}}
	},
	// Keys expire long before the client thinks.
	"short TTL": func(n driver.Node) driver.Node {
		return altered(n, func(c *driver.Command) bool {
			c.TTL = max(c.TTL/20, time.Millisecond)
			return true
		})
	},
	// Keys stay.
	"no release, long TTL": func(n driver.Node) driver.Node {
		return altered(n, func(c *driver.Command) bool {
			c.TTL = time.Hour
			return c.Op != driver.OpRelease
		})
	},
	"leaks": func(n driver.Node) driver.Node {
		go func() { select {} }()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		kept = append(kept, l)
		return n
	},
}

// kept has the garbage collector leave alone what is leaked.
var kept []net.Listener

// node is a node that does something else.
type node struct {
	driver.Node
	do func([]*driver.Command)
}

func (n node) Do(batch []*driver.Command) { n.do(batch) }

// altered is a node that gets other commands; those for which alter is false it does not get, and they are accepted.
func altered(n driver.Node, alter func(*driver.Command) bool) driver.Node {
	return node{n, func(batch []*driver.Command) {
		var sent []*driver.Command
		for _, c := range batch {
			other := *c
			other.Done = func(_ *driver.Command, r driver.Reply) { c.Done(c, r) }
			if alter(&other) {
				sent = append(sent, &other)
			} else {
				c.Done(c, driver.Reply{Outcome: driver.Accepted})
			}
		}
		if len(sent) > 0 {
			n.Do(sent)
		}
	}}
}

// disturbingSoak is for how long a machine must hold up a soak for it to be tried again. Its bounds allow for two seconds, but
// hundreds of short delays add up.
const disturbingSoak = 50 * time.Millisecond

// slower are the settings with all times so many times as long.
func slower(s *scenarios.Scenario, by time.Duration) *scenarios.Scenario {
	s.Lock.TTL *= by
	s.Lock.NodeTimeout *= by
	protocols.Change(&s.Lock, func(own *protocols.DelaySettings) {
		own.RetryDelay.Min *= by
		own.RetryDelay.Max *= by
	})
	return s
}

// run makes a soak as this attempt at a test is to. Without settings it takes the defaults.
func run(t *retry.T, ctx context.Context, o soak.Options) (*soak.Result, error) {
	t.Helper()
	if o.Client == nil {
		o.Client = []string{"/usr/bin/env", asClient + "=1", os.Args[0]}
	}
	if o.Settings == nil {
		o.Settings = soak.Default()
	}
	o.Settings = slower(o.Settings, t.Slower)
	o.Duration *= t.Slower
	o.Round *= t.Slower
	s, err := soak.Run(ctx, o, nil)
	if s != nil {
		t.Logf("%d grants of %d calls, faults %v, taken again within %v of %v, margin %v", s.Grants, s.Calls, s.Injected, s.Takeable.Longest, s.Takeable.Within, s.Margin)
	}
	return s, err
}

// wantNoProblem fails the test at once if two held a lock.
func wantNoProblem(t *retry.T, r *soak.Result) {
	t.Helper()
	for _, p := range r.Problems {
		if p.Class == scenarios.Safety {
			t.Found("%s", p.Text)
		} else {
			t.Error(p.Text)
		}
	}
}

func TestSoak(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	retry.Test(t, disturbingSoak, func(t *retry.T) {
		s, err := run(t, t.Context(), soak.Options{Duration: 10 * time.Second, Round: 5 * time.Second, Clients: 60 / int(t.Slower)})
		if err != nil {
			t.Fatal(err)
		}
		wantNoProblem(t, s)
		if s.Rounds != 2 || s.Grants == 0 || len(s.Injected) < 3 || s.Takeable.Times != s.Rounds*s.Options.Locks {
			t.Errorf("%d rounds, %d grants, faults %v, %d locks taken again: too little", s.Rounds, s.Grants, s.Injected, s.Takeable.Times)
		}
		for _, x := range s.Injected {
			if each := s.Options.Clients / s.Options.Processes; x.Fault == soak.ClientKill && s.Crashed < x.Times*each {
				t.Errorf("%d clients were killed in %d processes of %d", s.Crashed, x.Times, each)
			}
		}
		if drift := s.Options.Settings.Lock.TTL/100 + 2*time.Millisecond; s.HasMargin && s.Margin < drift {
			t.Found("a lock was granted %v after a lease on it had run out, and the drift allowance is %v", s.Margin, drift)
		}
		if err := s.History.Validate(); err != nil {
			t.Found("%v", err)
		}
	})
}

// Nodes that forget may come back when every lock that they voted for is over; with the restart guard they may at once.
func TestSoakOfNodesThatForget(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	for name, change := range map[string]func(s *scenarios.Scenario, slower time.Duration){
		"restart delay": func(s *scenarios.Scenario, slower time.Duration) {
			later := 2 * time.Second * slower
			s.Budget.RestartDelay = &later
		},
		"restart guard": func(s *scenarios.Scenario, slower time.Duration) {
			protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: s.Lock.TTL * slower} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retry.Test(t, disturbingSoak, func(t *retry.T) {
				s := soak.Default()
				s.Nodes.Persistence = redis.NoPersistence
				change(s, t.Slower)
				r, err := run(t, t.Context(), soak.Options{Settings: s, Duration: 6 * time.Second, Clients: 30, Faults: []soak.Fault{soak.NodeKill, soak.ClientKill}})
				if err != nil {
					t.Fatal(err)
				}
				wantNoProblem(t, r)
				if r.Grants == 0 {
					t.Error("nobody was granted a lock")
				}
			})
		})
	}
}

// A soak must see bugs, each of which breaks something else.
func TestSoakSeesPlantedBugs(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	for name, want := range map[string]struct {
		class scenarios.Class
		texts []string
	}{
		"says yes":             {scenarios.Safety, []string{"both held"}},
		"short TTL":            {scenarios.Safety, []string{"both held"}},
		"no release, long TTL": {scenarios.Liveness, []string{"could not be taken again", "after the last client was done, there still is lock-"}},
		"leaks":                {scenarios.Liveness, []string{"has 5 goroutines and 5 connections left"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retry.Test(t, disturbingSoak, func(t *retry.T) {
				s := soak.Default()
				s.Lock.TTL = 500 * time.Millisecond
				r, err := run(t, t.Context(), soak.Options{Settings: s, Duration: 2 * time.Second, Clients: 30, Faults: []soak.Fault{},
					Client: []string{"/usr/bin/env", asPlanted + "=" + name, os.Args[0]}})
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range want.texts {
					wantProblem(t, r, want.class, text)
				}
			})
		})
	}
}

// The goroutines of a client queue inside it, and it crashes with all of them.
func TestSoakOfGoroutines(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	retry.Test(t, disturbingSoak, func(t *retry.T) {
		s := soak.Default()
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.WakeUp = 10 * time.Millisecond })
		r, err := run(t, t.Context(), soak.Options{Settings: s, Duration: 6 * time.Second, Clients: 4, Goroutines: 8, Locks: 3, Processes: 2,
			Faults: []soak.Fault{soak.NodePause, soak.ClientKill}})
		if err != nil {
			t.Fatal(err)
		}
		wantNoProblem(t, r)
		names := map[string]bool{}
		queued := 0
		for _, e := range r.History {
			if client, goroutine, ok := strings.Cut(e.Process, "/"); ok {
				names[client] = names[client] || goroutine == "8"
			}
			if e.Kind == history.Step && e.Name == observe.Queued.String() {
				queued++
			}
		}
		if len(names) < 4 || slices.Contains(slices.Collect(maps.Values(names)), false) {
			t.Errorf("goroutines of clients %v, want eight of four at least", names)
		}
		if r.Grants == 0 || queued == 0 {
			t.Errorf("%d grants, %d calls waited in a queue", r.Grants, queued)
		}
		for _, x := range r.Injected {
			if x.Fault == soak.ClientKill && r.Crashed != x.Times*2*8 {
				t.Errorf("%d crashed in %d processes of two clients with eight goroutines", r.Crashed, x.Times)
			}
		}
	})
}

// So must settings be seen through whose budget promises too much: the only node forgets every lock at once.
func TestSoakSeesAForgetfulNode(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	retry.Test(t, disturbingSoak, func(t *retry.T) {
		atOnce := time.Millisecond
		s := soak.Default()
		s.Nodes.Names, s.Nodes.Persistence, s.Budget.RestartDelay = []string{"A"}, redis.NoPersistence, &atOnce
		r, err := run(t, t.Context(), soak.Options{Settings: s, Duration: 4 * time.Second, Clients: 30, Faults: []soak.Fault{soak.NodeKill}})
		if err != nil {
			t.Fatal(err)
		}
		wantProblem(t, r, scenarios.Safety, "both held")
		// What is kept is what shows it.
		report, err := checker.Check(r.History, checker.Options{})
		if err != nil || !slices.ContainsFunc(report.Findings, func(f checker.Finding) bool { return f.Kind == checker.LeaseOverlap }) {
			t.Errorf("the history shows %v, %v", report.Findings, err)
		}
	})
}

func wantProblem(t testing.TB, r *soak.Result, class scenarios.Class, text string) {
	t.Helper()
	if !slices.ContainsFunc(r.Problems, func(p scenarios.Problem) bool { return p.Class == class && strings.Contains(p.Text, text) }) {
		t.Errorf("no problem with %q in it, but %v", text, r.Problems)
	}
}

func TestSoakEnds(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	t.Run("early", func(t *testing.T) {
		t.Parallel()
		retry.Test(t, disturbingSoak, func(t *retry.T) {
			stop := make(chan struct{})
			timer := time.AfterFunc(2*time.Second*t.Slower, func() { close(stop) })
			defer timer.Stop()
			begin := time.Now()
			r, err := run(t, t.Context(), soak.Options{Duration: time.Hour, Clients: 30, Stop: stop})
			if err != nil {
				t.Fatal(err)
			}
			if r.Grants == 0 || r.Rounds != 1 || r.Takeable.Times == 0 {
				t.Errorf("%d grants in %d rounds, %d locks taken again: what there was is not judged", r.Grants, r.Rounds, r.Takeable.Times)
			}
			wantNoProblem(t, r)
			if took := time.Since(begin); took > 40*time.Second*t.Slower {
				t.Errorf("it took %v", took)
			}
		})
	})
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 2 * time.Second} {
		t.Run("at once after "+after.String(), func(t *testing.T) {
			t.Parallel()
			retry.Test(t, disturbingSoak, func(t *retry.T) {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				if _, err := run(t, ctx, soak.Options{Duration: time.Hour, Clients: 30}); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		})
	}
}

func TestSoakOptions(t *testing.T) {
	forgets := soak.Default()
	forgets.Nodes.Persistence = redis.NoPersistence
	fenced := soak.Default()
	protocols.Change(&fenced.Lock, func(own *protocols.RedlockSettings) { own.Fencing = true })
	fenced.Nodes.Persistence = redis.EverySecond
	single := soak.Default()
	single.Lock = single.Lock.With("single")
	for _, test := range []struct {
		o    soak.Options
		want string
	}{
		{soak.Options{Settings: forgets, Faults: []soak.Fault{soak.NodeKill}}, "node-kill: nodes would come back without what they knew"},
		{soak.Options{Settings: fenced, Faults: []soak.Fault{soak.PowerLoss}}, "power-loss: nodes would forget the counters of fencing"},
		{soak.Options{Settings: single}, "protocol single"},
		{soak.Options{Faults: []soak.Fault{"flood"}}, `there is no fault "flood"`},
		{soak.Options{Clients: 1}, "two at least"},
		{soak.Options{Duration: -1}, "positive"},
	} {
		if _, err := soak.Run(t.Context(), test.o, nil); !errors.Is(err, soak.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q in it", err, test.want)
		}
	}
}
