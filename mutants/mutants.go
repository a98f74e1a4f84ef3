// Package mutants is bugs planted into the library, to see that the scenarios catch them. A mutant is a change of the
// source that only ever exists in the overlay of a build: no mutant code lives in the library.
package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Mutant is one planted bug.
type Mutant struct {
	Name string
	// Real is where such a bug was seen, or the rule that it breaks.
	Real string
	// File is the source file, from the module's root; Old, which stands in it once, becomes New.
	File, Old, New string
	// Killers are the scenarios that must not be as expected with the bug in place.
	Killers []string
	// Tier is where they are run; model if empty. Bugs of the adapter and its scripts show on wire only.
	Tier string
}

// All lists the mutants.
func All() []Mutant { return append(ofTheAdapter(), ofTheRest()...) }

// ofTheAdapter lists those of the go-redis adapter.
func ofTheAdapter() []Mutant {
	return []Mutant{
		{Name: "wire-release-by-del", Real: "the release script deletes whatever is there", Tier: "wire",
			File: "redlock/goredis/release.lua", Old: "if held == ARGV[1] then", New: "if held then",
			Killers: []string{"09-contention"}},
		{Name: "wire-no-ttl", Real: "SET NX without PX", Tier: "wire",
			File: "redlock/goredis/node.go", Old: `redis.NewCmd(ctx, "set", c.Keys[0], c.Value, "nx", "px", ttl)`, New: `redis.NewCmd(ctx, "set", c.Keys[0], c.Value, "nx")`,
			Killers: []string{"12-holder-dies"}},
		{Name: "wire-set-without-nx", Real: "SET without NX: whoever asks has the lock", Tier: "wire",
			File: "redlock/goredis/node.go", Old: `c.Value, "nx", "px", ttl)`, New: `c.Value, "px", ttl)`,
			Killers: []string{"09-contention"}},
	}
}

func ofTheRest() []Mutant {
	return []Mutant{
		{"release-by-del", "the release deletes whatever is there (the shortcut in several tutorials)",
			"sim/model/model.go", "if r, ok := s.get(key, now); ok && r.value == c.Value {", "if _, ok := s.get(key, now); ok {",
			[]string{"09-contention"}, ""},
		{"single-set-without-nx", "SET without NX: whoever asks has the lock",
			"scenarios/protocols/single.go", `"SET", resource, value, "NX", "PX"`, `"SET", resource, value, "PX"`,
			[]string{"05-single-instance/healthy"}, ""},
		{"wait-not-looked-at", "the client sends WAIT and does not look at how many replicas acknowledged",
			"scenarios/protocols/failover.go", "case reply.Err == nil && n >= int64(w.Replicas):", "default:",
			[]string{"07-failover-with-wait/saved"}, ""},
		{"deadlines-start-anew", "the time to live of what a restarted node has on its disk begins again",
			"sim/model/model.go", "s.keys[r.Key] = record{r.Value, r.ExpiresAt}", "s.keys[r.Key] = record{r.Value, r.ExpiresAt + 20_000}",
			[]string{"27-crash-after-set/shutdown"}, ""},
		{"fair-stays-in-queue", "a waiter of Redisson's fair lock that gives up stays in the queue",
			"scenarios/protocols/redisson_fair.go", `redis("LREM", keys[0], "0", argv[0])`, `redis("EXISTS", keys[0])`,
			[]string{"45-redisson-fair/gives-up"}, ""},
		{"guard-off", "the restart guard does not compare the run of the server",
			"sim/model/conditions.go", "case found != run:", "case found != run && false:",
			[]string{"29-restart-guard", "30-restart-guard-and-clock-steps/forward", "30-restart-guard-and-clock-steps/backward"}, ""},
		{"guard-trusts-the-node", "the restart guard believes the node's clock alone",
			"redlock/guard.go", "now.Sub(q.since) >= g.MaxTTL", "now.Sub(q.since) >= 0",
			[]string{"30-restart-guard-and-clock-steps/forward"}, ""},
		{"quorum-one-less", "quorum N/2 instead of N/2+1",
			"redlock/quorum.go", "func Majority(n int) int { return n/2 + 1 }", "func Majority(n int) int { return n / 2 }",
			[]string{"09-contention", "18-clock-jump-on-all-nodes-held/two-of-five"}, ""},
		{"waits-for-all", "the decision waits for every node (redsync without fail-fast, node-redlock)",
			"redlock/quorum.go", "return b.accepted.len() >= quorum }", "return b.pending() == 0 && b.accepted.len() >= quorum }",
			[]string{"10-two-nodes-crash"}, ""},
		{"no-ttl", "SETNX without an expiry",
			"sim/model/model.go", "s.keys[key] = record{c.Value, now + ttl}", "s.keys[key] = record{c.Value, 0}",
			[]string{"12-holder-dies"}, ""},
		{"no-drift", "the validity ignores clock drift (redsync #37 added it with the wrong sign)",
			"redlock/validity.go", "return ttl - elapsed - drift }", "return ttl - elapsed }",
			[]string{"22-clock-rates/covered", "46-redisson-multi/redlock"}, ""},
		{"no-second-reading", "the validity is not checked after the acquire (node-redlock #296, #369)",
			"redlock/attempt.go", "validity := Validity(t.ttl, now.Sub(r.start), t.drift)", "validity := Validity(t.ttl, 0, t.drift)",
			[]string{"31-slow-acquire/pause", "31-slow-acquire/delayed-replies"}, ""},
		{"no-partial-release", "partial votes are not released before the retry (node-redlock #369)",
			"redlock/release.go", "r.awaited = acquire.ballot.replied()", "r.ballot.asked = 0",
			[]string{"13-split-votes"}, ""},
		{"redisson-releases-all", "the first release of a re-entrant lock frees it",
			"scenarios/protocols/redisson.go", `redis("HINCRBY", keys[0], argv[2], "-1"); counter.(int64) > 0 {`, `redis("HINCRBY", keys[0], argv[2], "-1"); counter.(int64) > 9 {`,
			[]string{"44-redisson/reentrant"}, ""},
		{"redisson-no-watchdog", "the watchdog renews once and no more",
			"scenarios/protocols/redisson.go", "if err := deleted(reply); err == nil {\n\t\tw.schedule()", "if err := deleted(reply); err == nil {",
			[]string{"44-redisson/long-work"}, ""},
		{"redisson-fair-barging", "a fair lock that whoever asks can take while others wait",
			"scenarios/protocols/redisson_fair.go", "redis(\"EXISTS\", lock) == any(int64(0)) && isNext {", "redis(\"EXISTS\", lock) == any(int64(0)) && (isNext || true) {",
			[]string{"45-redisson-fair/dead-head"}, ""},
		{"redisson-fair-tells-nobody", "a release of a fair lock that is published where nobody listens",
			"scenarios/protocols/redisson_fair.go", `channel+":"+head`, `channel+"-"+head`,
			[]string{"45-redisson-fair/in-order"}, ""},
		{"redisson-multi-longer-belief", "the client of a multi-lock counts on a tenth more than the lease time",
			"scenarios/protocols/redisson_multi.go", "return start.Add(ttl), err", "return start.Add(ttl + ttl/10), err",
			[]string{"46-redisson-multi/equal-rates"}, ""},
		{"sessions-by-the-wall-clock", "a lock service that times sessions by a clock that can be stepped",
			"sim/consensus/node.go", "return n.clock.Now() }", "return time.Unix(0, int64(n.server.Clock().Wall())) }",
			[]string{"47-consensus/clocks-and-restarts"}, ""},
		{"new-leader-ends-sessions", "a new leader does not give the sessions that it takes over their time (etcd's lessor extends them)",
			"sim/consensus/node.go", "		n.heard[name] = n.now()\n", "		n.heard[name] = time.Time{}\n",
			[]string{"47-consensus/clocks-and-restarts"}, ""},
		{"sessions-never-end", "a session outlives its client",
			"sim/consensus/node.go", "if now.Sub(n.heard[name]) > n.state.sessions[name].ttl {", "if false && now.Sub(n.heard[name]) > n.state.sessions[name].ttl {",
			[]string{"47-consensus/holder-dies", "47-consensus/paused-client"}, ""},
		{"revision-per-session", "the token is not the revision of the grant",
			"sim/consensus/state.go", "l.owner, l.revision = l.queue[0], s.revision", "l.owner, l.revision = l.queue[0], 1",
			[]string{"47-consensus/paused-client-fenced", "50-conditional-update"}, ""},
		{"commit-after-roll-back", "a transaction that has lost its lock is committed all the same",
			"sim/database/database.go", "	for _, e := range t.writes {\n		e.Outcome = history.Failed\n		d.world.Record(e)\n	}\n	d.end(t)\n", "	delete(d.locked, t.row)\n",
			[]string{"48-database-row-lock/same-transaction", "48-database-row-lock/before-the-write"}, ""},
		{"no-idle-timeout", "a database that waits for a client for ever",
			"sim/database/database.go", "d.clock.AfterFunc(idle, func() { d.rollBack(t) })", "d.clock.AfterFunc(idle, func() {})",
			[]string{"48-database-row-lock/holder-dies", "48-database-row-lock/outside"}, ""},
		{"no-row-lock", "SELECT without FOR UPDATE",
			"sim/database/database.go", "if d.locked[row] != nil {", "if false && d.locked[row] != nil {",
			[]string{"48-database-row-lock/contention"}, ""},
		{"no-unique-index", "the table has no unique index",
			"sim/database/unique.go", "taken && row.name != name {", "false && taken && row.name != name {",
			[]string{"49-database-unique-index/contention", "49-database-unique-index/one-minute"}, ""},
		{"table-takes-any-token", "an UPDATE without its WHERE clause",
			"sim/storage.go", "if e.Token <= c.token {", "if e.Token <= c.token && false {",
			[]string{"50-conditional-update"}, ""},
	}
}

// ErrPlace is the error of Overlay for a mutant whose Old text does not stand in its file exactly once.
var ErrPlace = errors.New("the place of the mutant has changed")

// Overlay writes the mutated file to dir and returns the path of an overlay file for go build -overlay. root is the
// module's root.
func (m Mutant) Overlay(root, dir string) (string, error) {
	original, err := filepath.Abs(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		return "", fmt.Errorf("mutants: %s: %w: %q stands %d times in %s", m.Name, ErrPlace, m.Old, n, m.File)
	}
	mutated := filepath.Join(dir, m.Name+filepath.Ext(m.File))
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o666); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, m.Name+".json")
	return path, os.WriteFile(path, overlay, 0o666)
}

// Build builds the command with the mutant in place into dir and returns its path.
func (m Mutant) Build(root, dir string) (string, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, m.Name)
	build := exec.Command("go", "build", "-overlay", overlay, "-o", binary, "./cmd/redlocksim")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutants: %s does not build: %w\n%s", m.Name, err, out)
	}
	return binary, nil
}
