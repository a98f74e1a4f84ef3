package audit

import (
	"cmp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/shell"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// Answers are what somebody knows of a lock and of its surroundings.
type Answers struct {
	// Settings are the lock's, the nodes', the network's and the budget that says what can happen to them.
	Settings *scenarios.Scenario
	// Library is the library that takes the lock: redlock, a preset, a protocol, or a lock program with its arguments.
	Library string
	// Work is how long the work under a lock takes at most; 0 if nobody knows.
	Work time.Duration
	// Failover says whether a replica takes over when a node is down.
	Failover bool
	// Renews says whether the lock is renewed while the work goes on; nil if that is as the library does it.
	Renews *bool
	// Assumed is what was not answered, and what is taken for granted instead.
	Assumed []string

	lib  library // without a name for a lock program
	file string
	root *yaml.Node // what the file says
	// oneNode says that the lock is one on a single Redis.
	oneNode bool
}

// Paths of settings that are not only looked at as answers.
const (
	ttlPath         = "lock.ttl"
	nodeTimeoutPath = "lock.node-timeout"
	guardTimePath   = "lock.guard-time"
	namesPath       = "nodes.names"
	watchdogPath    = "lock." + watchdogKey
)

// IsProgram says whether a library is a lock program.
func IsProgram(library string) bool {
	words, err := shell.Split(library)
	return err == nil && len(words) > 0 && strings.HasSuffix(words[0], ".wasm")
}

// OnOneNode has the lock be one on a single Redis. The error is a strictyaml.Errors: it was said that there are more.
func (a *Answers) OnOneNode() error {
	a.oneNode = true
	names := a.Settings.Nodes.Names
	said := cmp.Or(strictyaml.At(a.root, namesPath), strictyaml.At(a.root, "nodes"))
	if said != nil && said.Kind != yaml.MappingNode && len(names) > 1 {
		several := ""
		if a.Library == "redisson" {
			several = "; the lock of Redisson on several is library: redisson-multi"
		}
		return strictyaml.Errors{strictyaml.Errorf(a.file, said.Line, said.Column, "", nil, "nodes: %s is a lock on one Redis, and this says that there are %d: leave nodes out, or say 1%s", a.Library, len(names), several)}.Err()
	}
	a.Settings.Nodes.Names = names[:1]
	for i, text := range a.Assumed {
		if strings.HasPrefix(text, "nodes: ") {
			a.Assumed[i] = "nodes: 1"
		}
	}
	return nil
}

// says says whether the file has a key.
func (a *Answers) says(path string) bool { return strictyaml.At(a.root, path) != nil }
