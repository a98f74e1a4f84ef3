//go:build linux

package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/child"
	"redlocksim/internal/stall/retry"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/speed"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// What the test binary is, where the environment says so: a client process or a run of a scenario.
const (
	asClient = "REDLOCKSIM_TEST_AS_LIVE_CLIENT"
	asRun    = "REDLOCKSIM_TEST_AS_LIVE_RUN"
)

func TestMain(m *testing.M) {
	switch name := os.Getenv(asRun); {
	case os.Getenv(asClient) != "":
		if err := live.Client(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	case name != "":
		child.EndWithParent()
		_, err := live.Run(context.Background(), byName(name), options())
		fmt.Println(err)
	default:
		os.Exit(livetest.Main(m))
	}
}

// options have clients started as this test binary.
func options() live.Options {
	return live.Options{Client: []string{"/usr/bin/env", asClient + "=1", os.Args[0]}}
}

func byName(name string) *scenarios.Scenario {
	s, _ := scenarios.Find(name)
	return s
}

// run makes a run at a speed; 0 for the usual ones, one after the other.
func run(t testing.TB, ctx context.Context, s *scenarios.Scenario, speed int) (*verdict.Result, error) {
	t.Helper()
	o := options()
	o.Speed = speed
	r, err := live.Run(ctx, s, o)
	if errors.Is(err, live.ErrNoCompiler) {
		t.Skip(err)
	}
	return r, err
}

// attemptSpeed is how fast a scenario is run in an attempt at a test.
func attemptSpeed(t *retry.T) int { return max(1, speed.Default/int(t.Slower)) }

// The scenarios must show on redis-server processes what their files say, which is what the simulator shows. Each is here
// for something that only it needs.
func TestSameVerdictAsModel(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	for _, name := range []string{
		"05-single-instance/healthy",                              // many clients, a protocol of plain commands
		"12-holder-dies/crash",                                    // a client that is killed
		"17-clock-jump",                                           // a server's clock that jumps forward, lost requests
		"20-client-clock-steps-back/wall",                         // a client's clock that steps back
		"21-suspended-host/monotonic",                             // and one that stands still
		"24-restart-at-once/one-of-three",                         // a server that forgets
		"27-crash-after-set/every-second-power-loss",              // an append-only file after a power loss
		"27-crash-after-set/always-power-loss",                    // and what fsync is for
		"27-crash-after-set/snapshots-bring-back",                 // snapshots
		"32-pause-before-write",                                   // a client that is stopped at a very step
		"08-redlock-over-replicated-nodes",                        // a master that dies before its replica knows
		"07-failover-with-wait/both-sides-serve",                  // clients that are led to different masters
		"22-clock-rates/not-covered",                              // clocks of servers and clients that are fast and slow
		"36-careless-tokens/highest-of-a-quorum",                  // commands to all nodes at once, without the library
		"45-redisson-fair/in-order",                               // lists and sorted sets in scripts, clients' wall clocks
		"52-implementations-and-slow-acquires/redlock-rb-extends", // a preset, and a script that sets what is gone
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := byName(name)
			r, err := run(t, t.Context(), s, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p.Text)
			}
			if r.NotTested != nil {
				return
			}
			wantStopped(t, r.History)
			on := scenariotest.Judged(t, s, scenarios.Options{})
			if want := slices.DeleteFunc(on.Findings, checker.Kind.Monitored); !slices.Equal(r.Findings, want) {
				t.Errorf("live shows %v, model %v", r.Findings, want)
			}
		})
	}
}

// wantStopped sees that a client which is paused after one of its events does nothing from that very step on until it is
// resumed, and that one which is killed does nothing any more.
func wantStopped(t *testing.T, h history.History) {
	t.Helper()
	for i := range h {
		if h[i].Kind == history.Crash {
			for _, e := range h[i+1:] {
				if e.Process == h[i].Process {
					t.Errorf("event %d is of %s, which crashed at %d", e.Seq, e.Process, i+1)
				}
			}
		}
		if h[i].Kind != history.Fault || h[i].Name != "pause" {
			continue
		}
		before := i - 1 // which may be about a late answer
		for before > 0 && (h[before].Process != h[i].Process || h[before].Name == "joined" || h[before].Name == "node-answered") {
			before--
		}
		after := i + 1
		for after < len(h) && (h[after].Process != h[i].Process || h[after].Kind == history.Expire) {
			after++
		}
		if h[before].Name != faults.Checked || after == len(h) || h[after].Name != "resume" {
			t.Errorf("%s is paused at event %d, after event %d, a %s %s, and before event %d", h[i].Process, i+1, before+1, h[before].Kind, h[before].Name, after+1)
		}
	}
}

// A run that is told to end leaves nothing behind, whatever it was in the middle of.
func TestInterrupted(t *testing.T) {
	livetest.NeedsServer(t)
	for _, test := range []struct {
		name  string
		after time.Duration
	}{
		{"32-pause-before-write", 30 * time.Millisecond}, {"32-pause-before-write", 600 * time.Millisecond},
		{"08-redlock-over-replicated-nodes", time.Second},
	} {
		retry.Test(t, time.Second, func(t *retry.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.after)
			defer cancel()
			start := time.Now()
			if _, err := run(t, ctx, byName(test.name), 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", test.after, err)
			}
			if took := time.Since(start); took > test.after+5*time.Second*t.Slower {
				t.Errorf("it took %v to end after %v", took, test.after)
			}
			if err := livetest.NothingLeft(os.Getenv("TMPDIR")); err != nil {
				t.Found("after %v: %v", test.after, err)
			}
		})
	}
}

// Servers and clients end with the process that started them, even where it has no time to end them.
func TestKilledWithItsRun(t *testing.T) {
	livetest.NeedsServer(t)
	retry.Test(t, time.Second, func(t *retry.T) {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asRun+"=32-pause-before-write", "TMPDIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The servers run in directories of the run.
		if !within(10*time.Second*t.Slower, func() bool { return len(processesIn(t, dir)) >= 5 }) {
			t.Error("the servers did not start")
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		if !within(5*time.Second*t.Slower, func() bool { return len(processesIn(t, dir)) == 0 }) {
			t.Errorf("processes are left: %v", processesIn(t, dir))
		}
	})
}

// within says whether something comes true in time.
func within(d time.Duration, isTrue func() bool) bool {
	for deadline := time.Now().Add(d); !isTrue(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// processesIn are the processes whose command line names a directory.
func processesIn(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	paths, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if cwd, err := os.Readlink(path); err == nil && strings.HasPrefix(cwd, dir) {
			found = append(found, path)
		}
	}
	return found
}

// wantUnfit sees that a scenario cannot be shown, and that the error says why; an empty why is one that can be.
func wantUnfit(t *testing.T, s *scenarios.Scenario, o live.Options, why string) {
	t.Helper()
	err := live.Unfit(s, o)
	if why == "" && err != nil || why != "" && (!errors.Is(err, live.ErrUnfit) || !strings.Contains(err.Error(), why)) {
		t.Errorf("%s: %v, want %q in it", s.Name, err, why)
	}
}

// What cannot be put on servers, or on some, is refused, with the reason.
func TestUnfit(t *testing.T) {
	library := live.Options{}
	etcd := live.Options{Lock: []string{"etcd"}, Server: lines.Etcd}
	postgres := live.Options{Lock: []string{"postgres"}, Server: lines.Postgres}
	for _, test := range []struct {
		name string
		on   live.Options
		why  string
	}{
		{"17-clock-jump", library, ""},
		{"06-failover-to-a-replica", library, ""},
		{"21-suspended-host/boottime", library, ""},
		{"47-consensus/cut-off-client", library, "protocol consensus talks to a lock service, which takes a lock program for a real one"},
		{"49-database-unique-index/contention", library, "protocol db-unique talks to a database, which takes a lock program for a real one"},
		{"boundaries/pause-holds", library, "a single millisecond"},
		{"47-consensus/minority", etcd, ""},
		{"47-consensus/minority", postgres, ""},
		{"47-consensus/clocks-and-restarts", etcd, "it changes the clock of etcd, a Go program"},
		{"06-failover-to-a-replica", etcd, "its nodes have replicas, which tier live does not set up for etcd"},
		{"94-evicted-keys", etcd, "etcd evicts no keys"},
		{"94-evicted-keys", postgres, "PostgreSQL evicts no keys"},
		{"21-suspended-host/boottime", etcd, "those of a lock program are the machine's"},
	} {
		found := false
		for _, s := range scenarios.Catalogue() {
			if s.Name == test.name || strings.HasPrefix(s.Name, test.name+"/") {
				found = true
				wantUnfit(t, s, test.on, test.why)
			}
		}
		if !found {
			t.Errorf("there is no scenario %s", test.name)
		}
	}
	// A reset breaks a subscription in the simulator, and go-redis makes it again.
	s := *byName("44-redisson/lost-wake-up")
	wantUnfit(t, &s, library, "")
	s.Timeline = append(slices.Clone(s.Timeline), scenarios.Item{Kind: "reset", Fault: &faults.Reset{}})
	wantUnfit(t, &s, library, "subscribes")
	// Only when a run is over is it known when a belief has ended.
	s.Timeline = []scenarios.Item{{When: faults.Trigger{After: &faults.Moment{Event: "belief-ended"}}, Kind: "partition", Fault: &faults.Partition{}}}
	wantUnfit(t, &s, library, "belief-ended is a moment that nobody can see")
}

// Every fault of the vocabulary is made to happen, but for those that say why they cannot.
func TestEveryFault(t *testing.T) {
	refused := map[string]string{
		"split":         "a proxy does not know where in a batch one command ends",
		"set-counters":  "nobody changes keys by hand on the servers of tier live",
		"set-guard":     "nobody changes keys by hand on the servers of tier live",
		"overwrite":     "nobody changes keys by hand on the servers of tier live",
		"wrong-answers": "the proxies of tier live do not read what they pass on",
		"entropy":       "the random bytes of an operating system cannot be taken away from one process",
	}
	for _, w := range faults.Vocabulary() {
		s := *byName("17-clock-jump")
		s.Timeline = []scenarios.Item{{Kind: w.Name, Fault: w.New()}}
		wantUnfit(t, &s, live.Options{}, refused[w.Name])
	}
}
