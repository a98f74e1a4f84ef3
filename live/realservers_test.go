//go:build linux

package live_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
)

// built compiles the program of a lock in the directory locks.
func built(t *testing.T, lock string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), lock)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "locks", lock)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return program
}

// What a protocol whose service is a part of the simulator comes to there, its lock program comes to on real servers.
func TestEtcd(t *testing.T) {
	livetest.NeedsEtcd(t)
	expectVerdicts(t, live.Options{Lock: []string{built(t, "etcd"), "--count"}, Server: lines.Etcd},
		"47-consensus/paused-client", "47-consensus/leader-cut-off", "50-conditional-update")
}

func TestPostgres(t *testing.T) {
	livetest.NeedsPostgres(t)
	program := built(t, "postgres")
	expectVerdicts(t, live.Options{Lock: []string{program, "row"}, Server: lines.Postgres},
		"48-database-row-lock/contention", "48-database-row-lock/same-transaction", "48-database-row-lock/outside")
	expectVerdicts(t, live.Options{Lock: []string{program, "unique"}, Server: lines.Postgres},
		"49-database-unique-index/clean-up", "49-database-unique-index/clean-up-too-early")
}

// expectVerdicts runs cases with a program that is their protocol.
func expectVerdicts(t *testing.T, o live.Options, cases ...string) {
	o.Client, o.IsProtocol = options().Client, true
	for _, name := range cases {
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
}

// What cannot be put on a server is refused, with the reason.
func TestUnfitForServers(t *testing.T) {
	etcd := live.Options{Lock: []string{"etcd"}, Server: lines.Etcd}
	postgres := live.Options{Lock: []string{"postgres"}, Server: lines.Postgres}
	for name, why := range map[string]string{
		"47-consensus/minority":            "",
		"47-consensus/clocks-and-restarts": "it changes the clock of etcd, a Go program",
		"06-failover-to-a-replica":         "its nodes have replicas, which tier live does not set up for etcd",
		"94-evicted-keys":                  "etcd evicts no keys",
		"21-suspended-host/boottime":       "those of a lock program are the machine's",
	} {
		found := false
		for _, s := range scenarios.Catalogue() {
			if s.Name != name && !strings.HasPrefix(s.Name, name+"/") {
				continue
			}
			found = true
			if err := live.Unfit(s, postgres); (err == nil) != (why == "") {
				t.Errorf("%s, on PostgreSQL: %v", s.Name, err)
			}
			err := live.Unfit(s, etcd)
			if why == "" && err != nil || why != "" && (!errors.Is(err, live.ErrUnfit) || !strings.Contains(err.Error(), why)) {
				t.Errorf("%s: %v, want %q", s.Name, err, why)
			}
		}
		if !found {
			t.Errorf("there is no scenario %s", name)
		}
	}
}
