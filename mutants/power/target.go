package power

import (
	"fmt"

	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// Files are the names of what a target's measurement writes, in directory mutants.
type Files struct{ Results, Page string }

// target is what is measured where bugs are planted.
type target struct {
	Files
	about    string   // what it is, for the page
	columns  []Column // in the order in which they are run
	tested   []string // the packages with unit tests of it
	settings func() []mutants.Settings
	search   string // what a search with the settings is, for the page
}

var allColumns = []Column{Tests, Suite, Search, Explore, Live}

// targets say it of each. The locks of others have no unit tests of their own, and redlocksim explore does not use them unless
// a file says so.
var targets = map[generate.Target]target{
	generate.Library: {
		Files:   Files{"power.json", "POWER.md"},
		about:   "the library, its adapter, and its Lua scripts",
		columns: allColumns,
		tested: []string{"redlock", "redlock/goredis", "internal/quorum", "redlock/driver", "redlock/observe/redlockslog", "redlock/observe/redlockotel",
			"redlock/observe/redlockprom"},
		settings: mutants.AllSettings,
		search:   "a random search with each of [eight settings](settings.go) in turn.",
	},
	generate.Semaphores: {
		Files:    Files{"power-semaphores.json", "POWER-SEMAPHORES.md"},
		about:    "the semaphores and read-write locks of package redlock/semaphore",
		columns:  []Column{Tests, Suite, Explore, Live}, // none of the settings has a semaphore
		tested:   []string{"redlock/semaphore"},
		settings: func() []mutants.Settings { return nil },
	},
	generate.Protocols: {
		Files:    Files{"power-protocols.json", "POWER-PROTOCOLS.md"},
		about:    "the locks of others that scenarios/protocols implements anew, which have no unit tests of their own",
		columns:  []Column{Suite, Search},
		settings: mutants.OthersSettings,
		search: fmt.Sprintf("a random search with those of [%d settings](others.go) that reach the bug, in turn, none for more than a quarter of the time. "+
			"What an implementation is known to violate does not count.", len(mutants.OthersSettings())),
	},
}

// FilesOf are those of a target, and whether there is such a target.
func FilesOf(t generate.Target) (files Files, known bool) {
	of, known := targets[t]
	return of.Files, known
}
