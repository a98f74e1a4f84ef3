package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/speed"
	"redlocksim/live/internal/testbed"
	"redlocksim/scenarios"
)

// What errors.Is finds in the errors of this package.
var (
	// ErrUnfit: a real deployment cannot show the scenario.
	ErrUnfit = testbed.ErrUnfit
	// ErrNonsense: a lock program said or did what none may.
	ErrNonsense = testbed.ErrNonsense
	// ErrNoServer: there is no redis-server on this machine.
	ErrNoServer = testbed.ErrNoServer
	// ErrNoCompiler: the run changes a node's clock or takes its power, and there is no cc on this machine.
	ErrNoCompiler = faketime.ErrNoCompiler
)

// Unfit returns why redis-server processes cannot show a scenario, as an error that matches ErrUnfit; nil if they can. program
// says that the lock is a program.
func Unfit(s *scenarios.Scenario, program bool) error {
	var why []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	if service := s.Lock.Capabilities().Service; service != "" {
		add("protocol %s talks to a %s, which is a part of the simulator", s.Lock.Protocol, service)
	}
	if s.Live.Not != "" {
		add("%s", s.Live.Not)
	}
	if program && slices.ContainsFunc(s.Clients, func(name string) bool { return needsClocks(s, name) }) {
		add("it changes the clocks of clients, and those of a lock program are the machine's")
	}
	if program && slices.ContainsFunc(s.Timeline, makesClients) {
		add("it makes a client anew, which a lock program is not")
	}
	if s.Lock.TTL/speed.Default < 100*time.Millisecond {
		add("a TTL of %v is too short to be divided", s.Lock.TTL)
	}
	for i := range s.Timeline {
		if m := s.Timeline[i].When.After; m != nil && !m.IsRecorded() {
			add("%s is a moment that nobody can see on real servers", m.Event)
		}
		if f := s.Timeline[i].Fault; f != nil {
			if not := f.Live(speed.Deployment(s)).Not; not != "" {
				add("%s", not)
			}
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", s.Name, ErrUnfit, strings.Join(why, "; "))
}

// makesClients says whether an item makes another client in the place of one.
func makesClients(item scenarios.Item) bool {
	return slices.ContainsFunc(item.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.NewClientStep })
}
