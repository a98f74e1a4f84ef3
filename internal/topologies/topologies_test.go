package topologies_test

import (
	"fmt"
	"strings"
)

// topology is an arrangement of servers, and what is done about their failovers.
type topology struct {
	name string
	lock string // settings of a scenario file
	// nodes are those of a scenario file; the holder has the lock on the first only as far as a quorum needs it.
	nodes string
	// victim is the node that faults happen to, spare the replica that takes over, and far one that has confirmed nothing.
	victim, spare, far string
	// cut keeps the holder from the nodes that its quorum can do without.
	cut string
	// prepared: an operator declares the nodes fit to vote first.
	prepared bool
}

const fiveNodes = "{persistence: always}"

var (
	oneRedis = topology{nodes: "{names: [M], replicas: {M: [M2, M3]}, persistence: always}", victim: "M", spare: "M2", far: "M3"}
	redlocks = topology{nodes: fiveNodes, victim: "C", cut: "{at: 1s, fault: {partition: {clients: [client-1], nodes: [D, E], direction: requests}}}"}
)

func (t topology) with(name, lock string) topology {
	t.name, t.lock = name, lock
	t.prepared = strings.Contains(lock, "guard")
	return t
}

var topologies = []topology{
	oneRedis.with("one Redis with replicas, nothing done (`Waived`)", "{protocol: one-redis}"),
	oneRedis.with("one Redis with replicas, `Replicas: 1`", "{protocol: one-redis, replicas: 1}"),
	oneRedis.with("one Redis with replicas, `Guard`", "{protocol: one-redis, guard: {max-ttl: 10s}}"),
	oneRedis.with("one Redis with replicas, `WithFencing`", "{protocol: one-redis, fencing: true}"),
	oneRedis.with("one Redis with replicas, `Tokens`", "{protocol: one-redis, sequence: true}"),
	redlocks.with("Redlock, five independent nodes", "{protocol: redlock}"),
	redlocks.with("Redlock, five independent nodes, `WithFencing`", "{protocol: redlock, fencing: true}"),
	replicated().with("Redlock, five nodes with replicas that take over", "{protocol: redlock}"),
	replicated().with("Redlock, five nodes with replicas that take over, `WithRestartGuard`", "{protocol: redlock, guard: {max-ttl: 10s}}"),
}

func replicated() topology {
	t := redlocks
	t.nodes = "{replicas: {C: [C2, C3]}, persistence: always}"
	t.spare, t.far = "C2", "C3"
	return t
}

// hasTokens says whether grants have fencing tokens, which the storage then looks at.
func (t topology) hasTokens() bool {
	return strings.Contains(t.lock, "fencing") || strings.Contains(t.lock, "sequence")
}

// fault is a column: what happens while client 1 has the lock, as items of a timeline; "" where a topology has no such thing.
type fault struct {
	name    string
	items   func(t topology) string
	forgets bool // the servers write nothing to disk
	late    bool // client 1 takes the lock while client 2 asks for it or has it, and not before
}

func (f fault) nodes(nodes string) string {
	if f.forgets {
		return strings.ReplaceAll(nodes, "always", "none")
	}
	return nodes
}

const asked = "\n  - {at: 8s, client: client-2, do: [lock: 30s, write, hold: 9s, write, unlock]}"

var cases = []fault{
	{name: "a server is killed, and back after 1 s", items: killed},
	{name: "… and has forgotten everything", items: killed, forgets: true},
	{name: "a server dies, and a replica takes over that knows all", items: func(t topology) string {
		return t.promoted("", t.spare)
	}},
	{name: "… that knows nothing of the lock", items: func(t topology) string {
		return t.promoted(fmt.Sprintf("- {at: 1s, fault: {partition: {nodes: [%s], peers: [%s, %s]}}}\n  ", t.victim, t.spare, t.far), t.spare)
	}},
	{name: "… another than the one that knows", items: func(t topology) string {
		return t.promoted(fmt.Sprintf("- {at: 1s, fault: {partition: {nodes: [%s], peers: [%s]}}}\n  ", t.victim, t.far), t.far)
	}},
	{name: "a server is cut off with its clients, is replaced, and goes on", items: func(t topology) string {
		if t.spare == "" {
			return ""
		}
		return fmt.Sprintf(`- {at: 1s, fault: {partition: {nodes: [%[1]s], peers: [%[2]s, %[3]s]}}}
  - {at: 1s, fault: {partition: {clients: [client-2], nodes: [%[1]s]}}}
  - {at: 1s, fault: {partition: {clients: [client-1], nodes: [%[2]s, %[3]s]}}}
  - {at: 5s, fault: {promote: {node: %[1]s, replica: %[2]s, clients: [client-2]}}}`, t.victim, t.spare, t.far) + asked
	}, late: true},
	{name: "a server's clock jumps ahead", items: func(t topology) string {
		return fmt.Sprintf("- {at: 3s, fault: {clock-step: {process: %s, by: 1m}}}", t.victim) + asked
	}},
	{name: "the holder is paused for longer than its lease", items: func(t topology) string {
		return "- {after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: 15s}}}" + asked
	}},
}

func killed(t topology) string {
	return fmt.Sprintf("- {at: 3s, fault: {kill: {node: %s, restart-after: 1s}}}", t.victim) + asked
}

// promoted has a replica take over from a node that has died.
func (t topology) promoted(before, replica string) string {
	if t.spare == "" {
		return ""
	}
	return before + fmt.Sprintf("- {at: 3s, fault: {power-loss: {node: %s}}}\n  - {at: 5s, fault: {promote: {node: %s, replica: %s}}}", t.victim, t.victim, replica) + asked
}

// scenario is the file of a cell, "" if there is none.
func (t topology) scenario(f fault) string {
	items := f.items(t)
	if items == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nsource: docs/topologies.md\nexplanation: %s\nlock: %s\nnodes: %s\nclients: [operator, client-1, client-2]\nduration: 1m\nclaim: unsound\nexpect: {findings: safe, unavailable: {at-most: 1m}}\n",
		strings.ReplaceAll(t.name, ": ", " "), f.name, t.lock, f.nodes(t.nodes))
	if t.hasTokens() {
		b.WriteString("storage: fenced\n")
	}
	b.WriteString("timeline:\n")
	if t.prepared {
		b.WriteString("  - {at: 0s, client: operator, do: [prepare]}\n")
	}
	if t.cut != "" && !f.late {
		fmt.Fprintf(&b, "  %s\n", "- "+t.cut)
	}
	at := "2s"
	if f.late {
		at = "14s"
	}
	fmt.Fprintf(&b, "  - {at: %s, client: client-1, do: [try-lock, write, hold: 8s, write, unlock]}\n  %s\n", at, items)
	return b.String()
}
