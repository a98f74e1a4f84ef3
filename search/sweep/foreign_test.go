package sweep_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/built"
	"redlocksim/internal/jobs/jobstest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/sweep"
	"redlocksim/sim/guest"
)

// program is that of a lock.
func program(t *testing.T, name string) *programs.Program {
	t.Helper()
	return programIn(t, filepath.Join("..", "..", "locks", name))
}

func programIn(t *testing.T, dir string, args ...string) *programs.Program {
	t.Helper()
	p, err := programs.Load(built.Wasm(t, dir), args, built.Cache(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// Somebody's lock is compared with the formula of Redlock with the settings: redsync subtracts 1 % of the TTL from a lease, and
// this library 2 ms more, after which nodes can restart sooner.
func TestSomebodysLock(t *testing.T) {
	redsync, redlock := program(t, "redsync").Foreign(), program(t, "redlock").Foreign()
	careful := &scenarios.Foreign{Name: "the library with a larger allowance", New: func(env protocols.Env) (protocols.Locker, error) {
		protocols.Change(&env.Settings, func(own *protocols.RedlockSettings) { own.Drift.Constant = time.Second })
		library, _ := protocols.Find("redlock")
		return library.New(env)
	}}
	for _, c := range []struct {
		name         string
		of           *scenarios.Foreign
		set          string
		safe, broken string
		agrees       sweep.Agreement
	}{
		{"redsync beside its preset", redsync, "lock.preset=redsync", "19.8s", "19.799s", sweep.Agrees},
		{"redsync beside the library", redsync, "", "19.8s", "19.799s", sweep.Weaker},
		{"the library beside itself", redlock, "", "19.798s", "19.797s", sweep.Agrees},
		{"a careful lock beside the library", careful, "", "18.8s", "18.799s", sweep.Safer},
		// A second is more than messages of a millisecond account for: the grant comes 2 ms after the lease begins, and that of
		// the second client 1 ms after the nodes are back.
		{"the same in a network", careful, "network.latency=1ms", "18.797s", "18.796s", sweep.Safer},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := preset(t, "restart", "lock.ttl=20s", "budget.restart-delay=18s,21s")
			s.Bisect, s.Foreign = true, c.of
			if c.set != "" {
				setting, err := variant.ParseSetting(c.set)
				if err != nil {
					t.Fatal(err)
				}
				if s.Base, err = s.Base.With(setting); err != nil {
					t.Fatal(err)
				}
			}
			chart := run(t, s)
			if r := chart.Frontier[0]; r.Safe != c.safe || r.Broken != c.broken || r.Agrees != c.agrees {
				t.Errorf("%+v", r)
			}
			if weaker := chart.Count(sweep.Weaker) == 1; weaker != (c.agrees == sweep.Weaker) || chart.Count(sweep.Disagrees) > 0 {
				t.Error(chart.Count(sweep.Weaker), chart.Count(sweep.Disagrees))
			}
		})
	}
}

// A sweep of a program is the same elsewhere, where it is fetched once for all kinds of jobs.
func TestSomebodysLockElsewhere(t *testing.T) {
	lock := program(t, "naive").Foreign()
	grid := preset(t, "restart", "nodes.count=1", "lock.ttl=2s,3s", "budget.restart-delay=1s,4s")
	frontier := preset(t, "restart", "nodes.count=1", "lock.ttl=2s", "budget.restart-delay=1s,3s")
	frontier.Bisect = true
	there := jobstest.NewThere(sweep.Jobs((&programs.Loader{Cache: built.Cache(t)}).Load)...)
	for name, s := range map[string]sweep.Spec{"grid": grid, "frontier": frontier} {
		s.Foreign = lock
		want := asJSON(t, run(t, s))
		s.Elsewhere = there
		if got := asJSON(t, run(t, s)); got != want {
			t.Errorf("%s here:\n%s\nelsewhere:\n%s", name, want, got)
		}
	}
	if there.Done != 4+1 || there.Fetched != 1 {
		t.Errorf("the program was fetched %d times for %d jobs", there.Fetched, there.Done)
	}
}

// What a program does wrong is its failure elsewhere, too, and not the simulator's.
func TestAProgramThatFailsElsewhere(t *testing.T) {
	s := preset(t, "restart", "nodes.count=1", "lock.ttl=2s", "budget.restart-delay=1s")
	s.Foreign = programIn(t, filepath.Join("..", "..", "scenarios", "programs", "testdata", "says"), `{"type":"ready","re":1}`, "hello").Foreign()
	here := run(t, s)
	s.Elsewhere = jobstest.NewThere(sweep.Jobs((&programs.Loader{Cache: built.Cache(t)}).Load)...)
	elsewhere := run(t, s)
	if err := elsewhere.Err("", ""); !errors.Is(err, guest.ErrFailed) || err.Error() != here.Err("", "").Error() {
		t.Errorf("elsewhere %v, here %v", err, here.Err("", ""))
	}
}

// panics is a lock that does for clients with this TTL.
func panics(t *testing.T, ttl time.Duration) *scenarios.Foreign {
	library, _ := protocols.Find("redlock")
	return &scenarios.Foreign{Name: "the library", New: func(env protocols.Env) (protocols.Locker, error) {
		if env.Settings.TTL == ttl {
			panic("at sea")
		}
		return library.New(env)
	}}
}

// A run that panics ends no sweep: its point was not tested, the others are as they would be without it, and the command that
// repeats it names the point.
func TestRunsThatFail(t *testing.T) {
	s := preset(t, "restart", "lock.ttl=5s,10s", "budget.restart-delay=1s,20s")
	s.Repeat = "redlocksim sweep restart"
	s.Foreign = panics(t, 0)
	want := run(t, s)
	s.Foreign = panics(t, 5*time.Second)
	chart := run(t, s)
	if len(chart.Cells) != 4 || chart.Failed != 2*len(s.Schedules) || len(chart.Failures.Failures) != chart.Failed {
		t.Fatalf("%d cells, %d failures, and %d of them told", len(chart.Cells), chart.Failed, len(chart.Failures.Failures))
	}
	for i := range chart.Cells {
		got := &chart.Cells[i]
		switch {
		case i >= 2 && asJSON(t, &sweep.Chart{Cells: []sweep.Cell{*got}}) != asJSON(t, &sweep.Chart{Cells: want.Cells[i : i+1]}):
			t.Errorf("%v: %+v, want %+v", got.At, got, want.Cells[i])
		case i < 2 && (got.Verdict() != "not tested" || !strings.Contains(got.NotTested[0].Why, "panic: at sea")):
			t.Errorf("%v: %s, %+v", got.At, got.Verdict(), got)
		}
	}
	const first = "redlocksim sweep restart --axis lock.ttl=5s --axis budget.restart-delay=1s --schedule restart --frontier=false"
	var text strings.Builder
	if err := chart.WriteText(&text); err != nil || !strings.Contains(text.String(), first+"\n") {
		t.Errorf("%v: no %s in\n%s", err, first, &text)
	}
	if err := chart.Err("", ""); err == nil || !strings.Contains(err.Error(), "2 runs failed") || !strings.Contains(err.Error(), first+" shows it") {
		t.Errorf("%v", err)
	}
	s.Bisect = true
	if chart = run(t, s); chart.Failed != 2 || !strings.Contains(chart.Frontier[0].Note, "panic: at sea") || chart.Frontier[1].Safe == "" || chart.Frontier[1].Broken == "" {
		t.Errorf("%d failures, %+v", chart.Failed, chart.Frontier)
	}
}

// An attack in which clients do what the lock cannot has not taken place, and one that renews itself is cut off, or else its
// lease would last for ever.
func TestWhatSomebodysLockCannotDo(t *testing.T) {
	for name, want := range map[string]string{"redlock": "not tested", "rueidislock": "broken"} {
		s := preset(t, "pause", "lock.ttl=2s", "adversary.pause=1s", "lock.guard-time=0s", "nodes.count=1")
		s.Foreign = program(t, name).Foreign()
		if c := run(t, s).Cells[0]; c.Verdict() != want {
			t.Errorf("%s: %s, want %s; %v", name, c.Verdict(), want, c.NotTested)
		}
	}
}
