//go:build linux

package live

import (
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/server"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
)

// bed is a run with nothing to do.
type bed struct{ *run }

// emptyBed is one without clients, at the speed of the machine.
func emptyBed(t testing.TB) bed {
	t.Helper()
	livetest.NeedsServer(t)
	r, err := newRun(&scenarios.Scenario{}, Options{Speed: 1, Client: []string{"/bin/false"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return bed{r}
}

// mustAsk asks a server that must answer.
func (r bed) mustAsk(t testing.TB, node string, args ...string) string {
	t.Helper()
	reply, err := redisproc.Ask(r.serverNamed(node).Addr, args...)
	if err != nil {
		t.Fatalf("%s %v: %v", node, args, err)
	}
	return reply
}

// soon waits until a node has a key with this value; empty for none.
func (r bed) soon(t testing.TB, node, key, value string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); r.mustAsk(t, node, "GET", key) != value; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has %q as %s, want %q", node, r.mustAsk(t, node, "GET", key), key, value)
		}
	}
}

// staysWithout sees that a node does not get a key.
func (r bed) staysWithout(t testing.TB, node, key string) {
	t.Helper()
	time.Sleep(300 * time.Millisecond)
	if got := r.mustAsk(t, node, "GET", key); got != "" {
		t.Errorf("%s has %q as %s", node, got, key)
	}
}

func mustInject(t testing.TB, r bed, f faults.Fault) {
	t.Helper()
	if err := f.Inject(r.field); err != nil || r.failed != nil {
		t.Fatal(err, r.failed)
	}
}

// replicated is a bed with a master and three replicas.
func replicated(t testing.TB) bed {
	t.Helper()
	r := emptyBed(t)
	if err := r.addServers(t.Context(), server.Redis, server.Config{Names: []string{"M"}}); err != nil {
		t.Fatal(err)
	}
	r.mustAsk(t, "M", "SET", "first", "1")
	if err := r.addReplicas(t.Context(), "M", []string{"M2", "M3", "M4"}, server.Config{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func amongPeers(nodes, peers string, d network.Direction) faults.Links {
	return faults.Links{Nodes: strings.Fields(nodes), Peers: strings.Fields(peers), Direction: d}
}
