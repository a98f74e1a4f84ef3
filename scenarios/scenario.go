package scenarios

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// Scenario is a whole experiment. The tags are the keys of a scenario file.
type Scenario struct {
	// Name is the file's name without its ending, and the case's behind a slash.
	Name string

	// Title is one line.
	Title string `yaml:"title,required"`
	// Source is where the literature describes it.
	Source string `yaml:"source,required"`
	// Explanation is for a reader who has not read the literature.
	Explanation string `yaml:"explanation,required"`
	// Claim is what is said of the protocol with these settings: holds or unsound.
	Claim Claim `yaml:"claim,required"`
	// Lock is the protocol and its settings.
	Lock protocols.Settings `yaml:"lock"`
	// Nodes are the Redis nodes.
	Nodes Nodes `yaml:"nodes"`
	// Clients are the names of the client processes.
	Clients []string `yaml:"clients,required"`
	// Network is how long messages take.
	Network Network `yaml:"network"`
	// Storage is what the shared resource demands of a request before it takes it.
	Storage Storage `yaml:"storage"`
	// Budget is what the claim allows to happen.
	Budget faults.Budget `yaml:"budget"`
	// Timeline is what the clients do and what goes wrong, and when.
	Timeline []Item `yaml:"timeline,required"`
	// Duration is the length of the run in true time.
	Duration time.Duration `yaml:"duration"`
	// Expect is the verdict.
	Expect Expect `yaml:"expect,required"`
}

// Claim is what a scenario says of its protocol and settings.
type Claim string

const (
	// Holds: no violation occurs within the budget.
	Holds Claim = "holds"
	// Unsound: a violation occurs within the budget, and the scenario shows it.
	Unsound Claim = "unsound"
)

// UnmarshalScalar reads a claim.
func (c *Claim) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "claim", c, []strictyaml.Choice[Claim]{{Word: "holds", Value: Holds}, {Word: "unsound", Value: Unsound}})
}

// Nodes are the Redis nodes and what they write to disk.
type Nodes struct {
	// Names are the nodes' names.
	Names []string `yaml:"names"`
	// Replicas are the asynchronous replicas of nodes: {A: [A2, A3]}. Clients do not know of them until one is promoted.
	Replicas strictyaml.Ordered[[]string] `yaml:"replicas"`
	// Persistence is none, every-second or always.
	Persistence Persistence `yaml:"persistence"`
}

// Persistence is what the nodes write to disk.
type Persistence struct{ sim.Persistence }

// UnmarshalScalar reads none, every-second or always.
func (p *Persistence) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "persistence", &p.Persistence, []strictyaml.Choice[sim.Persistence]{
		{Word: "none", Value: sim.NoPersistence}, {Word: "every-second", Value: sim.EverySecond}, {Word: "always", Value: sim.Always}})
}

// Storage is a kind of shared resource: register, fenced, fenced-writes, compare-and-set or table.
type Storage struct{ sim.StorageKind }

// UnmarshalScalar reads a kind of storage.
func (k *Storage) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "kind of storage", &k.StorageKind, []strictyaml.Choice[sim.StorageKind]{
		{Word: "register", Value: sim.Register}, {Word: "fenced", Value: sim.Fenced}, {Word: "fenced-writes", Value: sim.FencedWrites},
		{Word: "compare-and-set", Value: sim.CompareAndSet}, {Word: "table", Value: sim.Table}})
}

// Network is the delays of messages.
type Network struct {
	// Latency is the delay in each direction, on every link.
	Latency Latency `yaml:"latency"`
	// Replies, if given, is the delay of replies where it differs.
	Replies *Latency `yaml:"replies"`
}

// Expect is the verdict that a scenario must have.
type Expect struct {
	// Findings are the kinds that the checker must find, all of them and no other; none for "safe".
	Findings Findings `yaml:"findings,required"`
	// Unavailable bounds the longest time in which the lock could not be had though somebody asked for it.
	Unavailable Bounds `yaml:"unavailable,required"`
	// Grants, where given, is how many locks each client was granted.
	Grants strictyaml.Ordered[int] `yaml:"grants"`
	// Leaks are the lock keys that are found without a time to live when the run is over.
	Leaks []string `yaml:"leaks"`
}

// Bounds are bounds on a duration.
type Bounds struct {
	AtLeast time.Duration `yaml:"at-least"`
	AtMost  time.Duration `yaml:"at-most,required"`
}

// Findings are kinds of findings in the checker's order; empty is "safe".
type Findings []checker.Kind

// Safe is the word for no findings.
const Safe = "safe"

func (f Findings) String() string {
	if len(f) == 0 {
		return Safe
	}
	words := make([]string, len(f))
	for i, k := range f {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// Default is a scenario with everything that a file may leave out.
func Default() Scenario {
	return Scenario{
		Lock:     protocols.Default(),
		Nodes:    Nodes{Names: []string{"A", "B", "C", "D", "E"}},
		Network:  Network{Latency: Latency{sim.Uniform(time.Millisecond, 5*time.Millisecond)}},
		Duration: time.Minute,
	}
}

// Expected is the expected verdict in words.
func (e Expect) String() string {
	text := e.Findings.String()
	if e.Unavailable.AtLeast > 0 {
		text += fmt.Sprintf(", unavailable %v to %v", e.Unavailable.AtLeast, e.Unavailable.AtMost)
	}
	return text + leaking(e.Leaks)
}
