package locktest

import (
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Setup is what to test. The zero Setup is the library of this module with its default settings on five nodes, in a world
// without faults.
type Setup struct {
	// Settings is the text of a settings file: the keys lock, nodes, network and storage of a scenario file, with its
	// defaults. It must not have a budget; use Assume.
	Settings string
	// Resources are the names of what the clients contend for, at most 1000. If nil, they are those under resources in
	// Settings, or one called R; only one of the two places can name them. Clients lock each by itself and, if the lock
	// can, several as one: by the LockAll of the library, or a Locker of your own that is an [AllLocker]. Mutual exclusion
	// is judged for each resource. A name has no comma and does not begin with a digit, a sign or a dot.
	Resources []string
	// Assume is what the lock may assume of the world.
	Assume Assumptions
	// Program, if not empty, is a lock program in the place of the protocol that the settings name: a lock library as it is,
	// with its goroutines, timers and connections. It is a .wasm file, or the directory of a Go program, which the go command
	// builds for WebAssembly, once in a process; arguments of the program follow behind spaces: "./mylock --quorum 3".
	// docs/lock-programs.md says how to write one.
	//
	// The program must read each key that the settings have under lock, and a lock on a single node needs settings with one.
	// Clients lock each resource by itself, and extend leases only if the program can. An experiment takes some tenths of a
	// second; -rapid.checks says how many there are.
	Program string
	// Lock, if not nil, makes the lock of each client, in place of the protocol that the settings name. Its Env has what a
	// lock in the simulator may use: nodes, clock, goroutines and random bytes. The lock must call Env.Believe when it
	// grants or extends, and may call Env.Step, for moments at which faults can be injected and for the story.
	//
	// The simulator runs one thing at a time, in virtual time. A lock that reads the system clock, starts goroutines or
	// opens connections itself cannot be tested; it must do so through the Env. A call of the Env from a goroutine of its own
	// fails the test, which says which call it was and where. Anything else of the kind shows in a run that does not repeat,
	// which fails the test, too. A library that cannot be changed is tested as a Program.
	Lock func(*Env) (Locker, error)
}

// Assumptions bound the faults. The zero value assumes a world without faults, except that nodes may stop for good, clients may
// crash and messages may be lost: that costs availability and must never cost safety.
type Assumptions struct {
	// ClockRate is the largest rate error of any clock, as a percentage ("0.5%") or a ratio ("0.005"); empty is 0.
	ClockRate string
	// ClockStep is the longest step of a wall clock.
	ClockStep time.Duration
	// Delay is the longest delay on top of those of the network.
	Delay time.Duration
	// Pause is the longest pause of a process, and Suspend the longest suspension of a client's machine.
	Pause   time.Duration
	Suspend time.Duration
	// RestartDelay is how long a node that lost its memory stays away at least, from when it stopped. If 0, it never comes
	// back.
	RestartDelay time.Duration
	// MemoryLoss is how often, in a run, a node may come back earlier than that without all it knew.
	MemoryLoss int
	// CounterLoss is how many nodes may ever lose their fencing counters, however long they stay away.
	CounterLoss int
}

// subject is what is tested: the library of this module, or something in its place.
type subject struct {
	foreign *scenarios.Foreign // nil for the library
	program *program           // nil if there is none
	strays  *strays            // nil without a Setup.Lock
}

// setup is a checked Setup.
type setup struct {
	subject
	base *scenarios.Scenario
	// apart: the lock cannot lock several resources as one.
	apart bool
}

// read checks a setup; the test ends if something is wrong with it.
func (s Setup) read(t rapid.TB) *setup {
	t.Helper()
	text := s.Settings
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	base, err := scenarios.ParseSettings("settings", []byte(text))
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	if s.Resources != nil {
		if base, err = withResources(text, s.Resources); err != nil {
			t.Fatalf("locktest: %v", err)
		}
	}
	if !reflect.DeepEqual(base.Budget, faults.Budget{}) {
		t.Fatalf("locktest: the settings have a budget: that is what Setup.Assume is for")
	}
	a := s.Assume
	rate, ok := ratio(a.ClockRate)
	if !ok {
		t.Fatalf("locktest: Assumptions.ClockRate %q is not a percentage (\"0.5%%\") or a part of one (\"0.005\") from 0 up to 100%%", a.ClockRate)
	}
	if min(a.ClockStep, a.Delay, a.Pause, a.Suspend, a.RestartDelay, time.Duration(min(a.MemoryLoss, a.CounterLoss))) < 0 {
		t.Fatalf("locktest: none of the assumptions can be negative: %+v", a)
	}
	base.Budget = faults.Budget{ClockRate: rate, ClockStep: a.ClockStep, Delay: a.Delay, Pause: a.Pause, Suspend: a.Suspend, MemoryLoss: a.MemoryLoss, CounterLoss: a.CounterLoss}
	if a.RestartDelay > 0 {
		base.Budget.RestartDelay = &a.RestartDelay
	}
	x := &setup{base: base}
	x.foreign, x.strays = foreign(s.Lock)
	if s.Program != "" {
		x.readProgram(t, s)
	}
	if s.Lock != nil && len(base.Resources) > 1 {
		x.apart = !x.locksAll(t)
	}
	return x
}

// readProgram makes the program of a setup.
func (x *setup) readProgram(t rapid.TB, s Setup) {
	t.Helper()
	if s.Lock != nil {
		t.Fatalf("locktest: the setup has a Lock and a Program: only one of them can be tested")
	}
	var err error
	if x.program, err = loadProgram(s.Program); err != nil {
		t.Fatalf("locktest: Setup.Program: %v", err)
	}
	if err := x.program.UnfitAtAnyBudget(x.base); err != nil {
		t.Fatalf("locktest: Setup.Program: %v", err)
	}
	if n := len(x.base.Nodes.Names); x.program.IsOneNode() && n > 1 {
		t.Fatalf("locktest: Setup.Program: the lock uses one node alone, and the settings have %d: give it one, by \"nodes: {names: [A]}\"", n)
	}
	x.foreign, x.apart = x.program.Foreign(), true
}

// withResources reads the settings with these resources added.
func withResources(text string, names []string) (*scenarios.Scenario, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	root := document.Content[0]
	for i := 0; i < len(root.Content); i += 2 {
		if root.Content[i].Value == "resources" {
			return nil, errors.New("the settings name resources, and so does Setup.Resources: only one of them can")
		}
	}
	var value yaml.Node
	if err := value.Encode(names); err != nil {
		return nil, err
	}
	root.Content = append(root.Content, strictyaml.Text("resources"), &value)
	data, err := yaml.Marshal(root)
	if err != nil {
		return nil, err
	}
	return scenarios.ParseSettings("Setup.Resources", data)
}

// locksAll makes a Locker once to see whether it can lock several resources as one.
func (x *setup) locksAll(t rapid.TB) bool {
	t.Helper()
	empty := *x.base
	empty.Name, empty.Clients, empty.Duration = "made", []string{"client-1"}, time.Nanosecond
	all, err := guarding(x.strays, func() (all bool, err error) {
		_, err = scenarios.Run(&empty, scenarios.Options{Foreign: &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
			locker, err := x.foreign.New(env)
			_, all = locker.(protocols.AllLocker)
			return locker, err
		}}})
		return all, err
	})
	if err != nil {
		t.Fatalf("locktest: %v", err)
	}
	return all
}

// ratio reads a percentage or a part of one, from 0 to below 1.
func ratio(text string) (faults.Rate, bool) {
	if text == "" {
		return faults.Rate{}, true
	}
	number, percent := strings.CutSuffix(text, "%")
	d, ok := faults.ParseDecimal(number)
	if !ok {
		return faults.Rate{}, false
	}
	if percent {
		d = d.Shift(-2)
	}
	return faults.RateOf(d), !d.IsNegative() && d.LessThan(decimal.New(1, 0))
}
