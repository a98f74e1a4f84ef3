package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"redlocksim/mutants"
)

// The columns of drawn bugs, in the order in which they are run.
const (
	// columnTests are the unit tests of the library, its adapter, and the packages that they alone are made of.
	columnTests = "tests"
	// columnSuite is every scenario on tiers model and wire.
	columnSuite = "suite"
	// columnSearch is a random search as redlocksim explore makes it without a file, each run with settings of its own; where
	// the locks of others have the bugs, it is one with each of [mutants.OthersSettings] in turn.
	columnSearch = "search"
	// columnLive is a few scenarios on tier live and a short soak, on the system's clock and goroutines and under a race
	// detector: for what neither the suite nor a search has noticed.
	columnLive = "live"
)

// ours are the columns that a lock without unit tests would have.
var ours = []string{columnSuite, columnSearch, columnLive}

// target is where bugs are planted, and what is to notice them.
type target struct {
	name string
	// page is the name of the file that says what was noticed of drawn bugs; empty for those of [mutants.All], which have
	// columns of their own.
	page string
	// directories are the packages that drawn bugs are planted into, and about says what they are, for the page.
	directories []string
	about       string
	columns     []string
	tested      []string // the packages with unit tests of it
	settings    []mutants.Settings
}

// planted is the bugs that somebody chose. The others are drawn: the locks of others have no unit tests of their own.
var planted = target{name: "planted"}

var targets = []target{
	planted,
	{
		name: "library", // with the packages that it alone is made of
		directories: []string{"internal/batch", "internal/quorum", "internal/redisnode", "redlock", "redlock/driver", "redlock/goredis",
			"redlock/single"},
		page:    "POWER.md",
		about:   "the library, its adapter, and its Lua scripts",
		columns: []string{columnTests, columnSuite, columnSearch, columnLive},
		tested: []string{"redlock", "redlock/goredis", "internal/quorum", "redlock/driver", "redlock/observe/redlockslog", "redlock/observe/redlockotel",
			"redlock/observe/redlockprom"},
	},
	{
		name:        "semaphores",
		directories: []string{"redlock/semaphore"},
		page:        "POWER-SEMAPHORES.md",
		about:       "the semaphores and read-write locks of package redlock/semaphore",
		columns:     []string{columnTests, columnSuite, columnSearch, columnLive},
		tested:      []string{"redlock/semaphore"},
	},
	{
		name:        "protocols",
		directories: []string{"scenarios/protocols"},
		page:        "POWER-PROTOCOLS.md",
		about:       "the locks of others that scenarios/protocols implements anew, which have no unit tests of their own",
		columns:     []string{columnSuite, columnSearch},
		settings:    mutants.OthersSettings(),
	},
}

// targetOf is the target of a name.
func targetOf(name string) (target, error) {
	var names []string
	for _, t := range targets {
		if t.name == name {
			return t, nil
		}
		names = append(names, t.name)
	}
	return target{}, fmt.Errorf("no target %q, want one of %v", name, names)
}

// trial is what may notice a bug: unit tests, or what a runner does.
type trial struct {
	column string
	// tests are run, or all of their packages if they have no names.
	tests []mutants.Test
	// args are those of the runner, settings a search has on its standard input, and cpu is how much processor time it has.
	args     []string
	settings []mutants.Settings
	cpu      time.Duration
	// kind is how the runner is built.
	kind buildKind
}

// plantedTrials are those of a planted bug: what is said to notice it.
func plantedTrials(m mutants.Mutant) (all []trial) {
	for _, t := range m.Tests {
		all = append(all, trial{column: t.String(), tests: []mutants.Test{t}})
	}
	for _, name := range m.Killers {
		all = append(all, trial{column: name, args: []string{"suite", "-tier", cmp.Or(m.Tier, "model"), name}, kind: quick})
	}
	return all
}

// trials are those of every drawn bug, where a search may take so much processor time.
func (t target) trials(limit time.Duration) (all []trial) {
	tests := trial{column: columnTests}
	for _, p := range t.tested {
		tests.tests = append(tests.tests, mutants.Test{Package: p})
	}
	for _, one := range []trial{
		tests,
		{column: columnSuite, args: []string{"suite"}, kind: optimized},
		{column: columnSearch, args: []string{"search"}, settings: t.settings, cpu: limit, kind: optimized},
		{column: columnLive, args: []string{"live"}, kind: racing},
	} {
		if slices.Contains(t.columns, one.column) {
			all = append(all, one)
		}
	}
	return all
}
