package scenarios_test

import (
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// What is wrong with a file is told with its place and what would be right; what looks like it and is right is taken.
func TestBadFiles(t *testing.T) {
	const (
		plain  = "lock: {protocol: redlock-plain}\n"
		two    = "resources: [invoices, orders]\n"
		bounds = "expect: {findings: safe, unavailable: {at-most: 1s}"
		heal   = "duration: 20s\n" + bounds + ", "
		late   = "duration: 20s\nheal: 15s\n"
	)
	do := func(steps string) string { return "timeline: [{at: 1s, client: client-1, do: [" + steps + "]}]\n" }
	reached := func(r string) string {
		return "expect: {findings: safe, unavailable: {at-most: 1s}, reached: [" + r + "]}"
	}
	for _, x := range []struct{ text, want string }{
		// How a step calls the lock.
		{do("lock: {released: true}"), "f.yaml:1:51: timeline[0].do[0].lock: lock takes no such key"},
		{do("lock, hold: {for: 1s, ttl: 2s}"), "hold takes no such key"},
		{do("try-lock: {cancel: -1s}"), "must not be negative"},
		{do("try-lock: {ttl: 1500us}"), "milliseconds"},
		{"lock: {guard: {max-ttl: 10s}}\n" + do("try-lock: {ttl: 11s}"), "the largest by the restart guard"},
		{do("unlock: {released: true}"), "there is no lock that was released before"},
		{do("lock: {ttl: 2s}, renew: {for: 5s, period: 1100ms}"), "more than half of the TTL"},
		{"lock: {ttl: 10s}\n" + do("with-lock: {for: 5s, period: 6s}"), "at least twice in its TTL"},
		{do("with-lock"), "needs a length"},
		{do("lock: {}"), `says nothing: want "resource", "for" or another key`},
		{plain + do("with-lock: 5s"), "protocol redlock-plain has no such call"},
		{plain + do("lock, unlock: {cancel: 1s}"), "does not look at the contexts of its calls"},
		{plain + do("lock, unlock, unlock: {released: true}"), "does not know a lock that was released"},
		{plain + do("lock, renew: {for: 1s, limit: 3}"), "does not renew its locks by itself"},
		{plain + do("close"), "protocol redlock-plain has no client that could be closed, only redlock has"},
		{"lock: {counter-ttl: 20s}", "there are none without fencing"},
		{"lock: {loss-lead: -1s}", "loss lead"},

		// What only Redis nodes have.
		{"lock: {protocol: db-row}\nnodes: {persistence: always}",
			`f.yaml:2:22: nodes.persistence: is for Redis nodes, and protocol db-row has a database on them; leave it out: "persistence"`},
		{"lock: {protocol: consensus}\nnodes: {replicas: {A: [A2]}}",
			`f.yaml:2:19: nodes.replicas: is for Redis nodes, and protocol consensus has a lock service on them; leave it out: "replicas"`},
		{"lock: {protocol: db-row}\nnodes: {persistence: none}", ""},
		{"lock: {protocol: one-redis}\nnodes: {persistence: always, replicas: {A: [A2]}}", ""},

		// Tier live.
		{"live: {speed: 3}", ""},
		{"live: {not: it is over in 2 ms}", ""},
		{"live: {speed: -1}", `f.yaml:1:15: live.speed: must be from 0 to 100 "-1"`},
		{"live: {speed: 101}", `f.yaml:1:15: live.speed: must be from 0 to 100 "101"`},
		{`live: {not: "two\nlines"}`, "is one line of printable text"},
		{"live: {why: it is over in a moment}", "why"},
		{"live: {speed: 1, not: [it, is, over]}", "f.yaml:1:23"},

		// Bounds, and the healing.
		{"expect: {findings: safe, unavailable: unbound}",
			`f.yaml:1:39: expect.unavailable: not bounds, as "{at-most: 2s}", nor the word for none "unbound"; did you mean "unbounded"?`},
		{"expect: {findings: safe, unavailable: {at-least: 2s, at-most: 1s}}", "f.yaml:1:39: expect.unavailable: at-most must not be less than at-least"},
		{bounds + ", takeover: {at-least: 2s, at-most: 1s}}", "f.yaml:1:64: expect.takeover: at-most must not be less than at-least"},
		{bounds + ", takeover: {at-most: 1}}", "f.yaml:1:74: expect.takeover.at-most: "},
		{bounds + ", takeover: {}}", "f.yaml:1:64: expect.takeover: "},
		{bounds + ", attempts: {at-least: 2, at-most: 1}}", "expect.attempts: at-most must not be less than at-least"},
		{bounds + ", attempts: {at-most: 1s}}", "expect.attempts.at-most: "},
		{bounds + ", commands: -1}", `expect.commands: must not be negative "-1"`},
		{bounds + ", bypass: {at-least: -1, at-most: 1}}", "expect.bypass.at-least: must not be negative"},
		{bounds + ", bypas: {at-most: 1}}", `did you mean "bypass"?`},
		{bounds + ", overtakes: {at-most: -1}}", "expect.overtakes: at-most must not be less than at-least"},
		{bounds + ", after-healing: {at-most: 1s}}", `expect.after-healing: there is no "heal" to count from`},
		{"heal: 0s\nduration: 20s", "f.yaml:1:7: heal: must be after the beginning and before the end, at 20s"},
		{"heal: 20s\nduration: 20s", "f.yaml:1:7: heal: must be after the beginning and before the end, at 20s"},
		{"heal: 15s\n" + heal + "after-healing: {at-most: 5s}}", "expect.after-healing: the run ends 5s after the healing"},
		{"heal: 15s\n" + heal + "after-healing: {at-least: 2s, at-most: 1s}}", "expect.after-healing: at-most must not be less than at-least"},
		{late + "timeline: [{at: 16s, fault: {reset: {}}}]", "f.yaml:3:17: timeline[0].at: all faults are healed at 15s, and none is injected from then on"},
		{late + "timeline: [{at: 15s, fault: {reset: {}}}]", "timeline[0].at: all faults are healed at 15s, and none is injected from then on"},
		{late + "timeline: [{at: 16s, client: client-1, do: [lock, unlock]}]", ""},

		// What is to be reached.
		{reached("{event: pauze}"), `there is no such event "pauze"`},
		{reached("{event: pause, believing: client-3}"), `there is no such client "client-3"`},
		{reached("{event: pause, after: {event: x}}"), `there is no such event "x"`},
		{reached("{event: nodes-free, client: client-1}"), "no event of a history"},
		{reached("{event: set-sent, client: client-1}"), "no event of a history"},
		{reached("{event: pause, after: {event: set-sent}}"), "no event of a history"},
		{reached("{event: pause, before: {event: nodes-free}}"), "no event of a history"},
		{reached("{event: pause, lead: 1ms}"), "goes with nodes-free only"},
		{reached("{event: pause, past: client-9}"), `there is no such client "client-9"`},
		{reached("{event: pause, before: {event: y}}"), `there is no such event "y"`},
		{"timeline: [{after: {event: set-sent}, client: client-1, do: [lock]}]", ""},
		{"lock: {protocol: db-row}\ntimeline: [{after: {event: set-sent}, client: client-1, do: [lock]}]", `there is no such event "set-sent"`},

		// What steps are on.
		{two + do("{lock: invoices}, {hold: 1s}, {unlock: invoices}"), ""},
		{two + do("{lock: [invoices, orders]}, {update: orders}, {write: invoices}, hold: 1s, unlock"), ""},
		{two + "timeline: [{at: 0s, client: client-1, resource: orders, do: [lock: 5s, update, {lock: {resource: invoices, for: 1s}}, " +
			"write, {write: orders}, unlock, unlock]}]", ""},
		{two + do("{lock: invoices}, {lock: orders}, {unlock: invoices}, {extend: {resource: orders, for: 5s}}, "+
			"{hold: {resource: orders, for: 1s}}, {renew: {resource: orders, for: 1s}}, unlock"), ""},
		{two + do("lock"), `timeline[0].do[0]: does not say which resource: there are several, as in "lock: invoices" "lock"`},
		{two + do("{lock: order}"), `timeline[0].do[0]: there is no such resource "order"; did you mean "orders"?`},
		{two + "timeline: [{at: 0s, client: client-1, resource: order, do: [lock]}]",
			`timeline[0].resource: there is no such resource "order"; did you mean "orders"?`},
		{two + do("{lock: [invoices, invoices]}"), `is listed twice "invoices"`},
		{two + do("{lock: []}"), "an empty list: name a resource"},
		{two + do("{lock: invoices}, {unlock: orders}"), `timeline[0].do[1]: is not what a lock is held on that was taken before, which is invoices "orders"`},
		{two + do("{lock: [orders, invoices]}, {unlock: orders}"),
			`is not what a lock is held on that was taken before, which is [orders, invoices] "orders"`},
		{two + do("{lock: [invoices, orders]}, write"), `does not say which resource: the lock is on several, as in "write: invoices" "write"`},
		{two + do("{lock: [invoices, orders]}, {write: [invoices, orders]}"), "write is on one resource"},
		{two + plain + do("{lock: [invoices, orders]}"), "protocol redlock-plain cannot lock several resources at once; lock one after the other"},
		{two + do("{lock: invoices}, {sleep: orders}"), `timeline[0].do[1].sleep: sleep takes no resource "orders"`},
		{do("{try-lock: 5s}"), `takes no length "try-lock"`},
		{two + do("{lock: invoices}, {hold: invoices}"), `needs a length, as in "hold: 5s" "hold"`},
		{"timeline: [{at: 0s, client: client-1, do: [lock], fault: {pause: {process: client-1, for: 1s}}}]",
			"an item is either a fault or something that a client does"},
		{two + do("{lock: invoices}, {hold: 10 sec}"), "not a duration"},

		// What resources are called: some names cannot be told from a length, or from several.
		{"resources: [a, 'order:17', 'é']\n" + do("lock: a"), ""},
		{"nodes: {persistence: snapshots, snapshot-every: 2500ms}", "must be whole seconds, as Redis counts them"},
		{"nodes: {persistence: snapshots, snapshot-every: 1s}", "snapshot-every"},
		{"nodes: {persistence: always, snapshot-every: 5s}", "is for nodes that make snapshots: add persistence: snapshots"},
		{"nodes: {persistence: snapshots, snapshot-every: 5s}", ""},
		{"resources: [a, a]", "there are two resources of this name"},
		{"resources: []", "0 resources, must be from 1 to 1000"},
		{"resources: ['']", "cannot be the name of a resource"},
		{"resources: ['10s']", "begins as a length does"},
		{"resources: ['a,b']", "it has a comma"},
		{"resources: ['redlock:token:x']\nlock: {fencing: true}", "a name that fencing and the restart guard keep for themselves"},
		{"resources: ['x:token', x]\nlock: {protocol: redlock-plain, tokens: one-node}", "a name that tokens are drawn from"},

		// Effects without the lock, with what could be meant.
		{do("lock, read, unlock, write-back"), `there is no lock or try-lock before; for one after the unlock say "write-back: {released: true}"`},
		{do("write: {released: true}"), "there is no lock that was released before"},
		{do("mark: {released: true}"), "mark takes no such key"},
		{do("lock, hold: {for: 1s, anyway: true}"), "hold takes no such key"},
		{two + do("lock: [invoices, orders], unlock, write: {released: true}"), `as in "write: {resource: invoices, released: true}"`},
		{two + do("lock: invoices, unlock, write: {resource: orders, released: true}"), "is not what a lock was on that was released before, which is invoices"},
		{"storage: compare-and-set\n" + do("lock, mark, unlock, write: {released: true}"), "would carry no mark"},
		{"lock: {protocol: db-row, effects: transaction}\n" + do("lock, unlock, write: {released: true}"), "is in the transaction that holds the lock"},
		{"resources: [p/1]\nsemaphores: [p]\n" + do("lock: {resource: p, anyway: true}"), "has no permit to go on without"},
	} {
		_, err := scenarios.Parse("f.yaml", scenariotest.Whole(x.text))
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.text, err, x.want)
		}
	}
}
