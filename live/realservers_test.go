//go:build linux

package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/built"
	"redlocksim/internal/stall/retry"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/server"
	"redlocksim/lockprogram/lines"
	"redlocksim/sim/history"
)

// onServer is the program of a lock on servers of a kind, and scenarios of the protocol that it takes the place of.
type onServer struct {
	kind    *server.Kind
	server  lines.Server
	program []string
	cases   []string
}

// What a protocol whose service is a part of the simulator comes to there, its lock program comes to on real servers. Members
// that elect are run with nothing beside them: if they are held up, all that they were to do is done again, and more slowly.
func TestVerdictsOnClusters(t *testing.T) {
	wantVerdicts(t,
		onServer{server.Etcd, lines.Etcd, []string{"etcd", "--count"}, []string{"47-consensus/leader-cut-off", "50-conditional-update"}},
		onServer{server.ZooKeeper, lines.ZooKeeper, []string{"zookeeper", "--count"},
			[]string{"47-consensus/paused-client", "47-consensus/leader-cut-off", "50-conditional-update"}})
}

func TestVerdictsOnDatabases(t *testing.T) {
	t.Parallel()
	wantVerdicts(t,
		onServer{server.Postgres, lines.Postgres, []string{"postgres", "row"}, []string{"48-database-row-lock/same-transaction", "48-database-row-lock/outside"}},
		onServer{server.Postgres, lines.Postgres, []string{"postgres", "unique"}, []string{"49-database-unique-index/clean-up-too-early"}})
}

func wantVerdicts(t *testing.T, all ...onServer) {
	for _, c := range all {
		t.Run(strings.Join(c.program, " "), func(t *testing.T) {
			t.Parallel()
			livetest.Needs(t, c.kind)
			o := options()
			o.Lock, o.Server, o.IsProtocol = append([]string{built.Program(t, "../locks/"+c.program[0])}, c.program[1:]...), c.server, true
			for _, name := range c.cases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					r, err := live.Run(t.Context(), byName(name), o)
					if err != nil {
						t.Fatal(err)
					}
					if !r.OK() {
						t.Errorf("%v: %v", r.Verdict(), r.Problems)
					}
				})
			}
		})
	}
}

// A server that stands still, loses its power or is shut down gives nobody a lock until it is back, and gives one
// then: who waits for the lock outlasts requests that are not answered in time.
func TestFaultsOfServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on      *server.Kind
		program []string
		server  lines.Server
	}{
		"etcd":      {server.Etcd, []string{"etcd", "--count"}, lines.Etcd},
		"zookeeper": {server.ZooKeeper, []string{"zookeeper", "--count"}, lines.ZooKeeper},
		"postgres":  {server.Postgres, []string{"postgres", "advisory"}, lines.Postgres},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			livetest.Needs(t, c.on)
			program := append([]string{built.Program(t, "../locks/"+c.program[0])}, c.program[1:]...)
			for fault, back := range map[string]string{
				"{pause: {process: A, for: 1s}}":             "resume",
				"{power-loss: {node: A, restart-after: 1s}}": "restart",
				"{shutdown: {node: A, restart-after: 1s}}":   "restart",
			} {
				t.Run(fault, func(t *testing.T) {
					t.Parallel()
					retry.Test(t, livetest.Disturbing, func(t *retry.T) {
						s := small(t, "ttl: 3s, protocol: redlock", fmt.Sprintf(`
  - {at: 0s, client: client-1, do: [lock, unlock]}
  - {at: 3s, fault: %s}
  - {at: 3200ms, client: client-2, do: [lock, unlock]}
nodes: {names: [A]}`, fault))
						o := options()
						o.Lock, o.Server, o.OneNode, o.Speed = program, c.server, true, max(1, 2/int(t.Slower))
						s.Duration = 20 * time.Second // if the machine is slow
						r, err := live.Run(t.Context(), s, o)
						if err != nil {
							t.Fatal(err)
						}
						isBack, granted := time.Duration(-1), firstOf(r.History, "client-2", "acquire-done")
						for _, e := range r.History {
							if e.Kind == history.Fault && e.Name == back {
								isBack = time.Duration(e.Time)
							}
						}
						if first := firstOf(r.History, "client-1", "acquire-done"); first < 0 || first > 3*time.Second {
							t.Errorf("before %s the lock is granted at %v", fault, first)
						}
						// It serves before it is known to be back, and not before it is told to be: a second after it was
						// stopped, which is known only when it has stopped. No delay excuses that.
						if granted >= 0 && granted < 4*time.Second {
							t.Found("%s begins at 3s or later, and the lock is granted at %v", fault, granted)
						}
						if isBack < 0 || granted < 0 {
							t.Errorf("after %s the server is back at %v, and the lock is granted at %v", fault, isBack, granted)
						}
					})
				})
			}
		})
	}
}
