package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/shell"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/sweep"
	"redlocksim/sweep/advise"
)

// Answers are what somebody knows of a lock and of its surroundings.
type Answers struct {
	// Settings are the lock's, the nodes', the network's and the budget that says what can happen to them.
	Settings *scenarios.Scenario
	// Library is the library that takes the lock: redlock, a preset, or a lock program with its arguments.
	Library string
	// Work is how long the work under a lock takes at most; 0 if nobody knows.
	Work time.Duration
	// Failover says whether a replica takes over when a node is down.
	Failover bool
	// Assumed is what was not answered, and what is taken for granted instead.
	Assumed []string
}

// Answer is one of them, and a key of a file.
type Answer struct {
	Key string
	// Question asks for it, and Example is an answer.
	Question, Example string
	// Default is taken for granted unless it is said; empty if that is up to the library, or nothing is.
	Default string

	// path is what a settings file says instead; empty if it does not say that.
	path string
	// translate gives what stands there; nil if it is the same.
	translate func(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node
}

// All are the answers, in the order in which they are asked for.
func All() []Answer {
	return []Answer{
		{Key: "library", Question: "Which library takes the lock: redlock, a preset such as redsync, or a lock program (a .wasm file)?", Example: "redsync", Default: "redlock"},
		{Key: "nodes", Question: "How many independent Redis nodes are there?", Example: "3", Default: "5", path: "nodes.names", translate: names},
		{Key: "ttl", Question: "For how long is a lock taken (its time to live)?", Example: "8s", path: "lock.ttl"},
		{Key: "work", Question: "How long does the work under a lock take at most?", Example: "4s"},
		{Key: "persistence", Question: "When do nodes write to disk: none, everysec or always?", Example: "everysec", Default: "none", path: "nodes.persistence"},
		{Key: "restart-delay", Question: "How soon, at the soonest, is a node back that stopped?", Example: "5s", Default: "0s", path: "budget.restart-delay"},
		{Key: "power-loss", Question: "Can the machine of a node lose power?", Example: "false", Default: "true", path: "budget.no-power-loss", translate: not},
		{Key: "failover", Question: "Does a replica take over when a node is down?", Example: "true", Default: "false"},
		{Key: "clock-error", Question: "By how much can a clock be fast or slow?", Example: "0.1%", Default: "500ppm", path: "budget.clock-rate", translate: rate},
		{Key: "clock-step", Question: "How far can a node's wall clock be stepped?", Example: "100ms", Default: "0s", path: "budget.clock-step"},
		{Key: "pause", Question: "What is the longest pause of a client, as for garbage collection?", Example: "800ms", Default: "0s", path: "budget.pause"},
		{Key: "rtt", Question: "How long is the round trip to a node?", Example: "{p50: 1ms, p99: 8ms, max: 20ms}", Default: "{min: 1ms, max: 10ms}", path: "network.latency", translate: roundTrip},
		{Key: "node-timeout", Question: "For how long does a client wait for a node's answer?", Example: "50ms", path: "lock.node-timeout"},
		{Key: "fencing", Question: "Does the resource refuse what comes with an older fencing token?", Example: "true", Default: "false", path: "storage", translate: fenced},
	}
}

// ours are the keys of a settings file, which a file of answers can have beside them.
var ours = []string{"title", "resources", "lock", "nodes", "network", "step-time", "storage", "budget"}

// Parse reads a file of answers. Errors are a strictyaml.Errors.
func Parse(path string, data []byte) (*Answers, error) {
	f := file{a: &Answers{Library: "redlock"}}
	if err := strictyaml.Decode(path, data, &f); err != nil {
		return nil, err
	}
	var err error
	f.a.Settings, err = scenarios.ParseSettingsNode(path, f.settings)
	return f.a, err
}

// file is a file of answers.
type file struct {
	a        *Answers
	settings *yaml.Node
}

// UnmarshalNode makes a settings file of the answers, and of what the file says as such a file does.
func (f *file) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.Errorf(n, "", nil, "want answers, as ttl: 8s, and keys of a settings file")
		return
	}
	f.settings = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	given := map[string]*yaml.Node{}
	keys := slices.Clone(ours)
	for _, a := range All() {
		keys = append(keys, a.Key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		isAnswer := slices.ContainsFunc(All(), func(a Answer) bool { return a.Key == key.Value })
		switch isOurs := slices.Contains(ours, key.Value); {
		case isAnswer && !(isOurs && value.Kind == yaml.MappingNode):
			given[key.Value] = value
		case isOurs:
			f.settings.Content = append(f.settings.Content, copied(key), copied(value))
		default:
			d.Errorf(key, key.Value, keys, "unknown key")
		}
	}
	for _, a := range All() {
		value := given[a.Key]
		switch {
		case value == nil && (a.Default == "" || a.path != "" && at(f.settings, a.path) != nil):
			continue
		case value == nil:
			f.a.Assumed = append(f.a.Assumed, a.Key+": "+a.Default)
			value = parsed(a.Default)
		case a.path != "" && at(f.settings, a.path) != nil:
			d.Errorf(value, a.Key, nil, "%s says the same:", a.path)
			continue
		}
		f.answer(d, a, value)
	}
}

// answer takes an answer.
func (f *file) answer(d *strictyaml.Decoder, a Answer, n *yaml.Node) {
	switch a.Key {
	case "library":
		if d.Decode(n, &f.a.Library) && f.a.Library != "redlock" && !IsProgram(f.a.Library) && at(f.settings, "lock.preset") == nil {
			put(f.settings, "lock.preset", n)
		}
		return
	case "work":
		if d.Decode(n, &f.a.Work) && f.a.Work < 0 {
			d.Errorf(n, n.Value, nil, "must not be negative")
		}
		return
	case "failover":
		d.Decode(n, &f.a.Failover)
		return
	}
	if a.translate != nil {
		if n = a.translate(d, n); n == nil {
			return
		}
	}
	put(f.settings, a.path, n)
	switch {
	case a.Key == "rtt": // both ways together
		put(f.settings, "network.replies", parsed("0s"))
	case a.Key == "fencing" && at(f.settings, "lock.fencing") == nil && n.Value == "fenced":
		put(f.settings, "lock.fencing", parsed("true"))
	}
}

// IsProgram says whether a library is a lock program.
func IsProgram(library string) bool {
	words, err := shell.Split(library)
	return err == nil && len(words) > 0 && strings.HasSuffix(words[0], ".wasm")
}

// names is the names of so many nodes.
func names(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	count := 0
	if !d.Decode(n, &count) {
		return nil
	}
	if count < 1 || count > redlock.MaxNodes {
		d.Errorf(n, n.Value, nil, "is not a number of nodes, from 1 to %d", redlock.MaxNodes)
		return nil
	}
	return parsed("[" + strings.Join(sweep.NodeNames(count), ", ") + "]")
}

// not is the opposite.
func not(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is bool
	if !d.Decode(n, &is) {
		return nil
	}
	return parsed(fmt.Sprint(!is))
}

// rate is a rate error as a percentage.
func rate(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is advise.ClockError
	if !d.Decode(n, &is) {
		return nil
	}
	return moved(parsed(is.Rate.String()), n)
}

// roundTrip is a latency.
func roundTrip(d *strictyaml.Decoder, n *yaml.Node) *yaml.Node {
	var is advise.RTT
	if !d.Decode(n, &is) {
		return nil
	}
	if n.Kind == yaml.MappingNode && at(n, "min") == nil {
		n = copied(n)
		put(n, "min", parsed("0s"))
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
		return parsed("fenced")
	}
	return parsed("register")
}
