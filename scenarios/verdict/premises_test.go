package verdict_test

import (
	"fmt"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/scenariotest"
)

// premise is a run in which the premise of a rule of the checker comes true, and one like it in which it does not. Each is the
// keys of a file, what its two clients do, the second 100 ms later, and more items of the timeline.
type premise struct{ with, without [4]string }

// onService is keys of a lock that no node of the simulator's Redis grants.
const onService = "lock: {protocol: consensus}\nnodes: {names: [A, B, C]}"

// premises are by the names of the rules in the table of package reach.
func premises() map[string]premise {
	const (
		fencing  = "lock: {fencing: true}"
		fenced   = fencing + "\nstorage: fenced"
		permits  = "resources: [p/1, p/2, p/all]\nsemaphores: [p]"
		permit   = "lock: p, unlock"
		pause    = "  - {after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: 15s}}}\n"
		all      = "hold: 5s, write, unlock"
		locks    = "lock, unlock"
		writes   = "lock, write, unlock"
		keeps    = "lock, renew: 1m"
		noFaults = ""
	)
	return map[string]premise{
		"holds":                  {[4]string{"", locks, locks}, [4]string{"", keeps, locks}},
		"contested":              {[4]string{"", keeps, locks}, [4]string{"", "lock, unlock", "sleep: 1s, lock, unlock"}},
		"second-opinion":         {[4]string{"", locks, locks}, [4]string{"", "sleep: 1s", "sleep: 1s"}},
		"writes-after-others":    {[4]string{"", writes, writes}, [4]string{"", writes, locks}},
		"late-writes":            {[4]string{"", writes, writes, pause}, [4]string{"", writes, writes, noFaults}},
		"compared":               {[4]string{fenced, writes, writes}, [4]string{fenced, writes, locks}},
		"requests-of-the-holder": {[4]string{fenced, writes, locks}, [4]string{"storage: fenced", writes, writes}},
		"writes-and-expiry":      {[4]string{"", writes, locks}, [4]string{"storage: table", writes, writes}},
		"updates":                {[4]string{"", "lock, update, unlock", "lock, update, unlock"}, [4]string{"storage: table", "lock, update, unlock", "lock, update, unlock"}},
		"tokens-of-grants":       {[4]string{fencing, locks, locks}, [4]string{"", locks, locks}},
		"tokens-of-effects":      {[4]string{fenced, writes, writes}, [4]string{fencing, writes, writes}},
		"protected":              {[4]string{"", locks, locks}, [4]string{onService, locks, locks}},
		"commands":               {[4]string{"", locks, locks}, [4]string{onService, locks, locks}},
		"returned-calls":         {[4]string{"", locks, locks}, [4]string{onService, locks, locks}},
		"refusals":               {[4]string{"", "close, try-lock", locks}, [4]string{"", locks, locks}},
		"specified-steps":        {[4]string{"", locks, locks}, [4]string{"lock: {protocol: single}\nnodes: {names: [A]}", locks, locks}},
		"let-go":                 {[4]string{"", locks, locks}, [4]string{"", keeps, "sleep: 1s"}},
		"in-the-clear":           {[4]string{"", locks, locks}, [4]string{onService, locks, locks}},
		"pauses":                 {[4]string{"lock: {protocol: single}\nnodes: {names: [A]}", "lock, " + all, locks}, [4]string{"lock: {protocol: single}\nnodes: {names: [A]}", "try-lock, unlock", "sleep: 1s"}},
		"permits":                {[4]string{permits, permit, permit}, [4]string{"", locks, locks}},
		"waiting":                {[4]string{"", locks, locks}, [4]string{"", "sleep: 1s", "sleep: 1s"}},
		"takeover": {[4]string{"", "lock, sleep: 1m", "lock, unlock", "  - {at: 1s, fault: {crash: {client: client-1}}}\n"},
			[4]string{"", "lock, sleep: 1s, unlock", "sleep: 10s, lock, unlock"}},
		"after-healing": {[4]string{"heal: 5s", locks, "sleep: 6s, " + locks, "  - {at: 1s, fault: {partition: {nodes: [A]}}}\n"},
			[4]string{"", locks, "sleep: 6s, " + locks}},
	}
}

// Each rule counts how often its premise came true, and says so where it did not: the same clients, without what it is about.
func TestEachRuleCountsItsPremise(t *testing.T) {
	all := premises()
	for _, e := range reach.Table() {
		if e.Kind != reach.Rule || e.Never != "" {
			continue
		}
		p, is := all[e.Name]
		if !is { // a rule of a monitor: TestCatalogueReachesTheTable has its premise
			p.without = [4]string{"", "sleep: 1s", "sleep: 1s"}
			p.with = p.without
		}
		for side, run := range map[bool][4]string{true: p.with, false: p.without} {
			text := fmt.Sprintf("clients: [client-1, client-2]\n%s\nduration: 40s\n"+
				"timeline:\n  - {at: 0s, client: client-1, do: [%s]}\n  - {at: 100ms, client: client-2, do: [%s]}\n%s"+
				"expect: {findings: safe, unavailable: {at-most: 40s}}\n", run[0], run[1], run[2], run[3])
			r := scenariotest.Judged(t, scenariotest.Given(t, text), scenarios.Options{})
			if n := reach.Premises(&r.Report)[e.Name]; n > 0 != (side && is) {
				t.Errorf("%s: its premise came true %d times in a run with it: %t", e.Name, n, side)
			}
		}
	}
}
