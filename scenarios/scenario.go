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
	// Resources are the names of what the clients contend for. Each is locked by itself, and has a number that is read and
	// written.
	Resources []string `yaml:"resources"`
	// Network is how long messages take.
	Network Network `yaml:"network"`
	// Storage is what the shared resource demands of a request before it takes it.
	Storage Storage `yaml:"storage"`
	// Budget is what the claim allows to happen.
	Budget faults.Budget `yaml:"budget"`
	// Timeline is what the clients do and what goes wrong, and when.
	Timeline []Item `yaml:"timeline,required"`
	// Heal, where given, is the true time at which all faults in force are undone; none strikes from then on. See
	// faults.Field.Heal.
	Heal *time.Duration `yaml:"heal"`
	// Duration is the length of the run in true time.
	Duration time.Duration `yaml:"duration"`
	// Expect is the verdict.
	Expect Expect `yaml:"expect,required"`
	// Recorded is the run that the file was written for, if a search found it.
	Recorded *Recorded `yaml:"recorded"`
}

// Claim is what a scenario says of its protocol and settings.
type Claim string

const (
	// Holds: no violation occurs within the budget.
	Holds Claim = "holds"
	// Unsound: a violation occurs within the budget, and the scenario shows it.
	Unsound Claim = "unsound"
)

var claims = []strictyaml.Choice[Claim]{{Word: "holds", Value: Holds}, {Word: "unsound", Value: Unsound}}

// UnmarshalScalar reads a claim.
func (c *Claim) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "claim", c, claims)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (c Claim) MarshalScalar() (string, error) {
	return strictyaml.WordOf(c, "claim", claims)
}

// Nodes are the Redis nodes and what they write to disk.
type Nodes struct {
	// Names are the nodes' names.
	Names []string `yaml:"names"`
	// Replicas are the asynchronous replicas of nodes: {A: [A2, A3]}. Clients do not know of them until one is promoted.
	Replicas strictyaml.Ordered[[]string] `yaml:"replicas"`
	// Persistence is none, every-second or always; everysec, as Redis has it, is every-second. A process that is killed keeps
	// its data unless it is none; a node that loses power keeps it only with always, and what is older than a second with
	// every-second.
	Persistence Persistence `yaml:"persistence"`
}

// Persistence is what the nodes write to disk.
type Persistence struct{ sim.Persistence }

var persistences = []strictyaml.Choice[sim.Persistence]{
	{Word: "none", Value: sim.NoPersistence}, {Word: "every-second", Value: sim.EverySecond}, {Word: "always", Value: sim.Always},
	{Word: "everysec", Value: sim.EverySecond}}

// UnmarshalScalar reads none, every-second, everysec or always.
func (p *Persistence) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "persistence", &p.Persistence, persistences)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (p Persistence) MarshalScalar() (string, error) {
	return strictyaml.WordOf(p.Persistence, "persistence", persistences)
}

// Storage is a kind of shared resource: register, fenced, fenced-writes, compare-and-set or table.
type Storage struct{ sim.StorageKind }

var storageKinds = []strictyaml.Choice[sim.StorageKind]{
	{Word: "register", Value: sim.Register}, {Word: "fenced", Value: sim.Fenced}, {Word: "fenced-writes", Value: sim.FencedWrites},
	{Word: "compare-and-set", Value: sim.CompareAndSet}, {Word: "table", Value: sim.Table}}

// UnmarshalScalar reads a kind of storage.
func (k *Storage) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "kind of storage", &k.StorageKind, storageKinds)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (k Storage) MarshalScalar() (string, error) {
	return strictyaml.WordOf(k.StorageKind, "kind of storage", storageKinds)
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
	Unavailable Unavailable `yaml:"unavailable,required"`
	// Takeover, where given, bounds the longest time until the lock of a holder that was gone was granted to another
	// (checker.Takeover). A run in which none was is not as expected.
	Takeover *Bounds `yaml:"takeover"`
	// Attempts, where given, bounds how many attempts a client made in one wait at the most.
	Attempts *CountBounds `yaml:"attempts"`
	// Bypass, where given, bounds how many grants to others a waiting client saw go by at the most.
	Bypass *CountBounds `yaml:"bypass"`
	// Overtakes, where given, bounds how many of these grants at the most went to clients who had begun to ask later.
	Overtakes *CountBounds `yaml:"overtakes"`
	// AfterHealing, where given, bounds the time from the healing until every client that asked from then on had been
	// granted the lock once, each counted from when it first asked. A run in which nobody asked is not as expected.
	AfterHealing *Bounds `yaml:"after-healing"`
	// Resources, where given, is what must be found and measured on a resource by itself. The keys above are for all of them:
	// the findings on any, and the worst that was measured.
	Resources strictyaml.Ordered[ExpectOn] `yaml:"resources"`
	// Reached is what the run must have come to; else it is not tested.
	Reached []Reached `yaml:"reached"`
	// Grants, where given, is how many locks each client was granted; a lock on several resources is one on each.
	Grants strictyaml.Ordered[int] `yaml:"grants"`
	// Leaks are the lock keys that are found without a time to live when the run is over.
	Leaks []string `yaml:"leaks"`
}

// ExpectOn is the part of a verdict that is about one resource.
type ExpectOn struct {
	// Findings are the kinds that the checker must find on the resource, all of them and no other; none for "safe".
	Findings Findings `yaml:"findings,required"`
	// Unavailable, where given, bounds the longest time in which the resource could not be had though somebody asked for it.
	Unavailable *Bounds `yaml:"unavailable"`
	// Takeover is as in Expect, of locks on the resource alone.
	Takeover *Bounds `yaml:"takeover"`
	// Attempts, where given, bounds how many attempts a client made in one wait for the resource at the most.
	Attempts *CountBounds `yaml:"attempts"`
	// Bypass, where given, bounds how many grants of the resource to others a waiting client saw go by at the most.
	Bypass *CountBounds `yaml:"bypass"`
	// Overtakes, where given, bounds how many of these grants at the most went to clients who had begun to ask later.
	Overtakes *CountBounds `yaml:"overtakes"`
	// AfterHealing is as in Expect, of clients that asked for the resource.
	AfterHealing *Bounds `yaml:"after-healing"`
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
		Lock:      protocols.Default(),
		Nodes:     Nodes{Names: []string{"A", "B", "C", "D", "E"}},
		Resources: []string{Resource},
		Network:   Network{Latency: Latency{sim.Uniform(time.Millisecond, 5*time.Millisecond)}},
		Duration:  time.Minute,
	}
}

// Expected is the expected verdict in words.
func (e Expect) String() string {
	text := e.Findings.String()
	if e.Unavailable.isTheSubject() {
		text += fmt.Sprintf(", unavailable %v", e.Unavailable)
	}
	return text + leaking(e.Leaks)
}
