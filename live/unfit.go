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
	// ErrNoServer: there is no redis-server on this machine.
	ErrNoServer = testbed.ErrNoServer
	// ErrNoCompiler: the run changes a node's clock or takes its power, and there is no cc on this machine.
	ErrNoCompiler = faketime.ErrNoCompiler
)

// Unfit returns why redis-server processes cannot show a scenario, as an error that matches ErrUnfit; nil if they can.
func Unfit(s *scenarios.Scenario) error {
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
