// Package scenarios is experiments as files: lock settings, processes, network, a timeline of steps and faults, what is
// claimed and what is expected, and the running of them. Package verdict judges the runs.
//
// [Catalogue] has the embedded ones, [Load] reads a file, and [Run] makes one run on a tier.
//
// To add a scenario: a file in files/.
package scenarios

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"
)

// Scenario is a whole experiment, as a scenario file describes it.
type Scenario struct {
	// Name is the file's name without its ending, and the case's behind a slash.
	Name string
	// Topic is the title of the file, of which that of a case is a part.
	Topic string

	// Title is a line that says what happens. Example: a node's clock jumps while the lock is held
	Title string `yaml:"title,required"`
	// Theme is what lists put the scenario under. Default: own. Example: clocks
	Theme Theme `yaml:"theme"`
	// Source is where the failure is described. Example: ourselves
	Source string `yaml:"source,required"`
	// Explanation tells a reader who does not know the literature what happens and why. Example: C restarts empty while
	// client-1 holds A, B and C.
	Explanation string `yaml:"explanation,required"`
	// Claim is what is said of the protocol with these settings: holds (it is safe within the budget, and beyond it shows
	// nothing that no fault excuses) or unsound (it is not, and this scenario shows it). Example: holds
	Claim Claim `yaml:"claim,required"`
	// Lock is the protocol under test and its settings. Default: protocol redlock with the defaults of the library. Example:
	// {ttl: 2s, node-timeout: 20ms}
	Lock protocols.Settings `yaml:"lock"`
	// Nodes are the Redis nodes. Default: five nodes without persistence. Example: {names: [A, B, C], persistence: always}
	Nodes Nodes `yaml:"nodes"`
	// Clients are the names of the client processes. Example: [client-1, client-2]
	Clients []string `yaml:"clients,required"`
	// Resources are the names of what the clients lock. Each is a lock of its own, and has a number that clients read and
	// write. Default: [R]. Example: [orders, stock]
	Resources []string `yaml:"resources"`
	// Semaphores are the names of semaphores, whose permits are resources: those of pool are pool/1, pool/2 and so on. A lock,
	// try-lock or with-lock on pool takes one of them, and with-all takes them all and the resource pool/all. Default: [].
	// Example: [pool]
	Semaphores []string `yaml:"semaphores"`
	// Network is how long messages take. Default: {latency: {min: 1ms, max: 5ms}}. Example: {latency: 2ms}
	Network Network `yaml:"network"`
	// StepTime is how long the code of a client takes until it reads a clock or sends a message again, or until
	// what waits in it goes on when it is woken. Default: 0s. Example: {min: 0s, p99: 100us, max: 2ms}
	StepTime Latency `yaml:"step-time"`
	// Storage is what the shared resource checks before it accepts a request: register (nothing), fenced (no token lower
	// than the highest seen), fenced-writes (the same, for writes only), compare-and-set (the mark is the writer's), table
	// (a token higher than that of the last write) or version (nothing was written since the client last read or wrote, as
	// with a version column). Default: register. Example: fenced
	Storage storage.Kind `yaml:"storage"`
	// Budget is what may go wrong without breaking the claim. Beyond it, only what no fault excuses breaks it. Default:
	// nothing, but for nodes that stop and messages that are lost. Example: {clock-rate: 0.1%, restart-delay: 10s}
	Budget faults.Budget `yaml:"budget"`
	// Timeline is what the clients do and what goes wrong, and when. Example: [{at: 0s, client: client-1, do: [try-lock,
	// hold: 1s, unlock]}]
	Timeline []Item `yaml:"timeline,required"`
	// Heal is the true time at which all faults in force are undone; no fault is injected after it. Default: not set.
	// Example: 30s
	Heal *time.Duration `yaml:"heal"`
	// Duration is the length of the run in true time. Default: 1m. Example: 30s
	Duration time.Duration `yaml:"duration" range:"1ns..24h"`
	// Live is what runs on tier live need to know. Default: {}. Example: {not: a single millisecond decides it}
	Live OnLive `yaml:"live"`
	// Expect is the verdict that the run must have. Example: {findings: safe, unavailable: {at-most: 1s}}
	Expect Expect `yaml:"expect,required"`
	// Recorded is the run that the file was written from, if a search found it. Default: not set. Example: {seed: 7,
	// history: 4d37…}
	Recorded *Recorded `yaml:"recorded"`

	node *yaml.Node // where it is written
}

// Claim is what a scenario says of its protocol and settings.
type Claim string

const (
	// Holds: no violation occurs within the budget, and beyond it none that no fault excuses.
	Holds Claim = "holds"
	// Unsound: a violation occurs within the budget, or one that no fault excuses, and the scenario shows it.
	Unsound Claim = "unsound"
)

var _ = strictyaml.EnumOf("claim", Holds, Unsound)

var _ = strictyaml.Enum[storage.Kind]("kind of storage").Word("register", storage.Register).
	Word("fenced", storage.Fenced).Word("fenced-writes", storage.FencedWrites).
	Word("compare-and-set", storage.CompareAndSet).Word("table", storage.Table).Word("version", storage.Versioned)

// Network is the delays of messages.
type Network struct {
	// Latency is the delay in each direction, on every link. Default: {min: 1ms, max: 5ms}. Example: {min: 1ms, p99: 8ms,
	// max: 20ms}
	Latency Latency `yaml:"latency"`
	// Replies is the delay of replies if it differs. Default: as latency. Example: 50ms
	Replies *Latency `yaml:"replies"`
}

// OnLive is what a run against redis-server processes, on tier live, needs to know of a scenario.
type OnLive struct {
	// Not is a line that says why real processes cannot show the scenario: one that is decided within a few milliseconds would
	// show how busy the machine is. Default: empty, they can. Example: a single millisecond decides it
	Not string `yaml:"not"`
	// Speed is how many times as fast as the file a run may be at the most, up to 100. Default: 0, as fast as usual. Example: 1
	Speed int `yaml:"speed" range:"0..100"`
}

// Expect is the verdict that a scenario must have.
type Expect struct {
	// Findings are the violations that the checker must find, exactly these; safe is none. Example: lease-overlap
	Findings Findings `yaml:"findings,required"`
	// Unavailable bounds the longest time for which somebody asked for the lock and nobody could get it; unbounded if
	// nothing bounds it. Example: {at-most: 50ms}
	Unavailable Unavailable `yaml:"unavailable,required"`
	Waits       `yaml:",inline"`
	// Resources is the verdict of single resources. The other keys are about all of them: the findings on any, and the worst
	// measurement. Default: not checked. Example: {orders: {findings: safe}}
	Resources strictyaml.Ordered[ExpectOn] `yaml:"resources"`
	// Reached is what must have happened in the run; otherwise the run is not tested. Default: not set. Example: [{event:
	// acquire-done, client: client-2}]
	Reached []Reached `yaml:"reached"`
	// Grants is how many locks each client was granted; a lock on several resources counts once for each. Default: not
	// checked. Example: {client-1: 1, client-2: 1}
	Grants strictyaml.Ordered[int] `yaml:"grants"`
	// Commands is how many commands that set, extend or delete keys the clients may send to the nodes in the whole run, as many
	// as the algorithm needs; one more is a finding (conduct). Several that share a script are one, and a release that is sent
	// again because it was not confirmed is none. Default: not checked. Example: 20
	Commands int `yaml:"commands" range:"0.."`
	// Leaks are the keys of locks and their lines without a time to live at the end of the run. Default: []. Example: [R]
	Leaks []string `yaml:"leaks"`
}

// ExpectOn is the part of a verdict that is about one resource.
type ExpectOn struct {
	// Findings are the violations that the checker must find on this resource, exactly these; safe is none. Example: safe
	Findings Findings `yaml:"findings,required"`
	// Unavailable bounds the longest time for which somebody asked for this resource and nobody could get it. Default: not
	// checked. Example: {at-most: 2s}
	Unavailable *Bounds `yaml:"unavailable"`
	Waits       `yaml:",inline"`
}

// Waits bounds what clients wait for.
type Waits struct {
	// Takeover bounds the longest time from the end of a holder until another client was granted its lock
	// (checker.Takeover). A run without such a grant fails it. Default: not checked. Example: {at-most: 11s}
	Takeover *Bounds `yaml:"takeover"`
	// Attempts bounds the largest number of attempts in one wait. Default: not checked. Example: {at-most: 20}
	Attempts *CountBounds `yaml:"attempts"`
	// Bypass bounds the largest number of grants to others while one client waited. Default: not checked. Example: {at-most:
	// 5}
	Bypass *CountBounds `yaml:"bypass"`
	// Overtakes bounds how many of these grants went to clients that had begun to ask later. Default: not checked. Example:
	// {at-most: 0}
	Overtakes *CountBounds `yaml:"overtakes"`
	// AfterHealing bounds the time from the healing until every client that asked from then on had been granted the lock
	// once, each counted from when it first asked. A run in which nobody asked fails it. Default: not checked. Example:
	// {at-most: 2s}
	AfterHealing *Bounds `yaml:"after-healing"`
}

// Default is a scenario with everything that a file may leave out.
func Default() Scenario {
	return Scenario{
		Theme:     Own,
		Lock:      protocols.Default(),
		Nodes:     Nodes{Names: []string{"A", "B", "C", "D", "E"}, SnapshotEvery: time.Minute},
		Resources: []string{Resource},
		Network:   Network{Latency: Latency{network.Uniform(time.Millisecond, 5*time.Millisecond)}},
		Duration:  time.Minute,
	}
}

// Expected is the expected verdict in words.
func (e Expect) String() string {
	text := e.Findings.String()
	if e.Unavailable.IsTheSubject() {
		text += fmt.Sprintf(", unavailable %v", e.Unavailable)
	}
	if len(e.Leaks) > 0 {
		text += ", leaks " + strings.Join(e.Leaks, " and ")
	}
	return text
}

// Seed is the seed to run the scenario with: the one that is asked for or, if that is nil, that of the recorded run, or else 0.
func (s *Scenario) Seed(asked *uint64) uint64 {
	switch {
	case asked != nil:
		return *asked
	case s.Recorded != nil:
		return s.Recorded.Seed
	}
	return 0
}

// Recorded is the run that a scenario file was written from.
type Recorded struct {
	// Seed is the seed of the run, unless another one is given. Example: 7
	Seed uint64 `yaml:"seed,required"`
	// History is the hash of the recorded history. Example: 4d376b5a…
	History string `yaml:"history,required"`
}
