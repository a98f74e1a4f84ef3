package power

import (
	"encoding/json"
	"fmt"
	"time"

	"redlocksim/mutants"
)

// Column is a way to notice a bug.
type Column string

// The columns, in the order in which they are run.
const (
	// Tests are the unit tests of the library, its adapter, and the packages that they alone are made of.
	Tests Column = "tests"
	// Suite is every scenario on tiers model and wire.
	Suite Column = "suite"
	// Search is a random search with each of [mutants.AllSettings] in turn, or of [mutants.OthersSettings] where the locks of
	// others have the bugs: with those of them that reach the bug.
	Search Column = "search"
	// Explore is a random search as redlocksim explore makes it without a file: each run draws its settings as well.
	Explore Column = "explore"
	// Live is a few scenarios on tier live and a short soak, on the system's clock and goroutines and under a race detector:
	// for what neither the suite nor a search has noticed.
	Live Column = "live"
)

// shares is into how many parts the limit of a search is divided: no settings have more than one of them.
const shares = 4

// share is how much processor time a search has with some settings.
func (o Options) share(settings int) time.Duration {
	return min(o.Limit, time.Duration(settings)*o.Limit/shares)
}

// search is the process of a search with some settings, or as redlocksim explore makes it if there are none.
func search(binary string, limit time.Duration, with ...mutants.Settings) process {
	p := process{binary: binary, args: []string{"explore", fmt.Sprint(int(limit / time.Second))}, environment: []string{"GOMAXPROCS=1"}}
	if len(with) > 0 {
		text, err := json.Marshal(with)
		if err != nil {
			panic(err) // they are texts
		}
		p.stdin = string(text)
	}
	return p
}

// runner is the process of a column that is no search.
func runner(binary string, c Column) process {
	p := process{binary: binary, environment: []string{"GOMAXPROCS=1"}}
	switch c {
	case Suite:
		p.args = []string{"suite"}
	case Live:
		p.args, p.patience, p.spacious = []string{"live"}, patienceLive, true
		p.environment = []string{"GORACE=halt_on_error=1"}
	}
	return p
}

// columns are those that are measured.
func (o Options) columns() []Column {
	if o.Columns != nil {
		return o.Columns
	}
	return targets[o.Target].columns
}
