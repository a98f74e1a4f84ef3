package soak

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// ErrInvalid is what errors.Is finds in the error of Run for invalid options. The text says which, and why.
var ErrInvalid = errors.New("soak")

// Options say what to soak. The zero value of each field is the default of the command.
type Options struct {
	// Settings are the lock, the nodes and the budget; nil is DefaultSoak. The protocol must be redlock.
	Settings *scenarios.Scenario
	// Duration is for how long faults are injected, without the checks after each round; 2m.
	Duration time.Duration
	// Round is after how long the faults end and everything is checked; 20s.
	Round time.Duration
	// Clients is how many clients take locks at the same time; 200. Processes is how many processes they are spread over; one
	// for 25 clients, at least two.
	Clients, Processes int
	// Goroutines is how many goroutines of each client take locks at the same time; 1. They queue inside their client.
	Goroutines int
	// Locks is how many locks there are; one for 8 goroutines.
	Locks int
	// Seed is what faults and work are drawn from. Runs with the same seed still differ, as live runs are not deterministic.
	Seed uint64
	// Faults are the kinds that are injected; nil is all that the settings allow.
	Faults []Fault
	// Stop, once closed, ends the faults early.
	Stop <-chan struct{}
	// Client is the command that starts a client process, as in the Options of package live.
	Client []string
}

//go:embed soak.yaml
var soakSettings []byte

// Default is what is soaked by default.
func Default() *scenarios.Scenario {
	s, err := scenarios.ParseSettings("soak.yaml", soakSettings)
	if err != nil {
		panic(fmt.Sprintf("live: the embedded settings: %v", err))
	}
	return s
}

// filled returns the options with defaults filled in, or an error if they are invalid.
func (o Options) filled() (Options, error) {
	wrong := func(format string, args ...any) (Options, error) {
		return o, fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if o.Settings == nil {
		o.Settings = Default()
	}
	s := o.Settings
	switch {
	case !protocols.Has[protocols.RedlockSettings](s.Lock):
		return wrong("protocol %s has no client that could be soaked, only redlock has", s.Lock.Protocol)
	case len(s.Nodes.Replicas) > 0:
		return wrong("replicas are not set up")
	case s.Lock.Clock != kernel.Monotonic:
		return wrong("the lock clock must be the monotonic one")
	case o.Duration < 0 || o.Round < 0 || o.Clients < 0 || o.Goroutines < 0 || o.Processes < 0 || o.Locks < 0:
		return wrong("durations and numbers must be positive")
	}
	if err := s.Lock.Check(len(s.Nodes.Names)); err != nil {
		return wrong("%v", err)
	}
	fill(&o.Duration, 2*time.Minute)
	fill(&o.Round, 20*time.Second)
	fill(&o.Clients, 200)
	fill(&o.Processes, max((o.Clients+24)/25, 2))
	fill(&o.Goroutines, 1)
	fill(&o.Locks, max(o.Clients*o.Goroutines/8, 1))
	if o.Clients < 2 || o.Processes > o.Clients {
		return wrong("%d clients in %d processes: there must be two at least, and one a process", o.Clients, o.Processes)
	}
	if o.Faults == nil {
		for _, a := range Faults() {
			if beyond(s, a) == "" && (a != PowerLoss || faketime.HasCompiler()) {
				o.Faults = append(o.Faults, a)
			}
		}
		return o, nil
	}
	for _, a := range o.Faults {
		if !slices.Contains(Faults(), a) {
			return wrong("there is no fault %q; there are %s", a, words(Faults()))
		}
		if why := beyond(s, a); why != "" {
			return wrong("%s: %s", a, why)
		}
	}
	return o, nil
}

func fill[T comparable](field *T, fallback T) {
	var zero T
	if *field == zero {
		*field = fallback
	}
}

func words(all []Fault) string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = string(a)
	}
	return strings.Join(texts, ", ")
}

// asScenario writes the settings as a file that client processes can read.
func asScenario(s *scenarios.Scenario) (string, error) {
	x := *s
	x.Clients = []string{"client"}
	x.Timeline = []scenarios.Item{{Client: "client", Do: []scenarios.Step{{Kind: scenarios.TryLockStep}}, Repeat: 1}}
	x.Budget = faults.Budget{}
	text, err := x.Encode()
	return string(text), err
}
