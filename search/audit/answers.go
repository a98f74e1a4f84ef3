package audit

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/shell"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
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

	lib   library // without a name for a lock program
	file  string
	root  *yaml.Node // what the file says
	nodes *yaml.Node // that say how many there are; nil if nothing does
	// oneNode says that the lock is one on a single Redis.
	oneNode bool
}

// Answer is one of them, and a key of a file.
type Answer struct {
	Key string
	// Question asks for it, and Example is an answer.
	Question, Example string
	// Default is taken for granted unless it is said. If it is empty, Without says what is instead.
	Default, Without string

	// path is what a settings file says instead; empty if it does not say that.
	path string
	// translate gives what stands there; nil if it is the same.
	translate func(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node
}

// Meant is what somebody means who is asked: yes is true, and no is false, where the answer is one of these.
func (a *Answer) Meant(said string) string {
	isYesOrNo := a.Default == "true" || a.Default == "false" || a.Key == "renews"
	switch strings.ToLower(said) {
	case "yes", "y":
		if isYesOrNo {
			return "true"
		}
	case "no", "n":
		if isYesOrNo {
			return "false"
		}
	}
	return said
}

// All are the answers, in the order in which they are asked for.
func All() []Answer {
	return []Answer{
		{Key: "library", Question: "Which library takes the lock: redlock, another such as redsync, single for SET NX PX on one Redis, or a lock program (a .wasm file)?", Example: "redsync", Default: "redlock"},
		{Key: "nodes", Question: "How many independent Redis nodes are there, not counting replicas?", Example: "3", Default: "5", path: namesPath, translate: names},
		{Key: "ttl", Question: "For how long is a lock taken (its time to live)?", Example: "8s", Without: "the library's own", path: ttlPath},
		{Key: "work", Question: "How long does the work under a lock take at most?", Example: "4s", Without: "not judged"},
		{Key: "renews", Question: "Is the lock renewed while the work goes on?", Example: "true", Without: "as the library does it"},
		{Key: "persistence", Question: "When do nodes write to disk: none, everysec or always?", Example: "everysec", Default: "none", path: "nodes.persistence"},
		{Key: "restart-delay", Question: "How soon, at the soonest, is a node back that stopped?", Example: "5s", Default: "0s", path: "budget.restart-delay"},
		{Key: "power-loss", Question: "Can the machine of a node lose power?", Example: "false", Default: "true", path: "budget.no-power-loss", translate: not},
		{Key: "failover", Question: "Does a replica take over when a node is down?", Example: "true", Default: "false"},
		{Key: "clock-error", Question: "By how much can a clock be fast or slow?", Example: "0.1%", Default: "500ppm", path: "budget.clock-rate", translate: rate},
		{Key: "clock-step", Question: "How far can a node's wall clock be stepped?", Example: "100ms", Default: "0s", path: "budget.clock-step"},
		{Key: "pause", Question: "What is the longest pause of a client, as for garbage collection?", Example: "800ms", Default: "0s", path: "budget.pause"},
		{Key: "rtt", Question: "How long is the round trip to a node?", Example: "{p50: 1ms, p99: 8ms, max: 20ms}", Default: "{min: 1ms, max: 10ms}", path: "network.latency", translate: roundTrip},
		{Key: "node-timeout", Question: "For how long does a client wait for a node's answer?", Example: "50ms", Without: "the library's own", path: nodeTimeoutPath},
		{Key: "fencing", Question: "Does the resource refuse what comes with an older fencing token?", Example: "true", Default: "false", path: "storage", translate: fenced},
	}
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
	if a.nodes != nil && len(names) > 1 {
		several := ""
		if a.Library == "redisson" {
			several = "; the lock of Redisson on several is library: redisson-multi"
		}
		return strictyaml.Errors{strictyaml.Errorf(a.file, a.nodes.Line, a.nodes.Column, "", nil, "nodes: %s is a lock on one Redis, and this says that there are %d: leave nodes out, or say 1%s", a.Library, len(names), several)}.Err()
	}
	a.Settings.Nodes.Names = names[:1]
	for i, text := range a.Assumed {
		if strings.HasPrefix(text, "nodes: ") {
			a.Assumed[i] = "nodes: 1"
		}
	}
	return nil
}

// names is the names of so many nodes.
func names(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	count := 0
	if !d.Decode(n, &count) {
		return nil
	}
	if count < 1 || count > redlock.MaxNodes {
		d.Errorf(n, n.Value, nil, "want a number of nodes from 1 to %d, got", redlock.MaxNodes)
		return nil
	}
	return written("[" + strings.Join(variant.NodeNames(count), ", ") + "]")
}

// not is the opposite.
func not(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is bool
	if !d.Decode(n, &is) {
		return nil
	}
	return written(fmt.Sprint(!is))
}

// rate is a rate error as a percentage.
func rate(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is clockError
	if !d.Decode(n, &is) {
		return nil
	}
	return written(is.Rate.String())
}

// clockError is a rate error, written as a percentage or in parts per million: "0.05%", "500ppm".
type clockError struct{ faults.Rate }

// UnmarshalScalar reads a rate error.
func (c *clockError) UnmarshalScalar(text string) error {
	if n, ok := strings.CutSuffix(text, "ppm"); ok {
		d, ok := faults.ParseDecimal(n)
		if !ok {
			return &strictyaml.Invalid{Msg: `not a rate error, as "500ppm" or "0.05%"`, Word: text}
		}
		c.Rate = faults.RateOf(d.Shift(-6))
		return nil
	}
	return c.Rate.UnmarshalScalar(text)
}

// roundTrip is a latency, whose min may be left out, and is 0 then.
func roundTrip(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode && strictyaml.At(n, "min") == nil {
		with := *n
		with.Content = append([]*yaml.Node{strictyaml.Text("min"), strictyaml.Text("0s")}, n.Content...)
		n = &with
	}
	if !d.Decode(n, new(scenarios.Latency)) {
		return nil
	}
	return n
}

// fenced is what the resource checks.
func fenced(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is bool
	switch {
	case !d.Decode(n, &is):
		return nil
	case is:
		return written("fenced")
	}
	return written("register")
}

// written is a value of our own as a node.
func written(text string) *yaml.Node {
	n, err := strictyaml.ValueOf(text)
	if err != nil {
		panic(err) // it is ours
	}
	return n
}
