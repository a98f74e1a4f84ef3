package power

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// Column is a way to notice a bug.
type Column string

// The columns, in the order in which they are run.
const (
	// Tests are the unit tests of the library, its adapter, and the packages that they alone are made of.
	Tests Column = "tests"
	// Suite is every scenario on tiers model and wire.
	Suite Column = "suite"
	// Search is a random search with each of [mutants.AllSettings] in turn, and where the locks of others have the bugs, with
	// each of theirs in which such a search finds nothing without a bug.
	Search Column = "search"
	// Explore is a random search as redlocksim explore makes it without a file: each run draws its settings as well.
	Explore Column = "explore"
	// Live is a few scenarios on tier live and a short soak, on the system's clock and goroutines and under a race detector:
	// for what neither the suite nor a search has noticed.
	Live Column = "live"
)

// columnsOf are the columns of a target, in order. The locks of others have no unit tests of their own, and redlocksim explore
// does not use them unless a file says so.
func columnsOf(t generate.Target) []Column {
	if t == generate.Protocols {
		return []Column{Suite, Search}
	}
	return []Column{Tests, Suite, Search, Explore, Live}
}

// runner is the process of a column, with a limit for a search.
func (o Options) runner(binary string, c Column, limit time.Duration) process {
	p := process{binary: binary, args: []string{"explore", fmt.Sprint(int(limit / time.Second))}, environment: []string{"GOMAXPROCS=1"}}
	switch c {
	case Suite:
		p.args = []string{"suite"}
	case Search:
		p.stdin = settings(o.Target)
	case Live:
		p.args, p.patience, p.spacious = []string{"live"}, patienceLive, true
		p.environment = []string{"GORACE=halt_on_error=1"}
	}
	return p
}

// others are the protocols besides the library's in which a search with these settings finds nothing, unless they have a bug.
var others = []string{"redlock-plain", "single", "failover", "setnx-expire", "consensus", "db-row", "db-unique"}

// settings are those of a target's searches, as the runner reads them.
func settings(t generate.Target) string {
	var all []string
	for _, s := range mutants.AllSettings() {
		all = append(all, s.Text)
	}
	if t == generate.Protocols {
		for _, protocol := range others {
			all = append(all, "lock: {protocol: "+protocol+", ttl: 2s, guard-time: 310ms}\nnodes: {persistence: none}\nnetwork: {latency: {min: 1ms, max: 5ms}}\n"+
				"budget: {clock-rate: 0.5%, pause: 200ms, delay: 100ms, restart-delay: 2s}\n")
		}
	}
	return strings.Join(all, "\n---\n")
}

// columns are those that are measured.
func (o Options) columns() []Column {
	if o.Columns != nil {
		return o.Columns
	}
	return columnsOf(o.Target)
}
