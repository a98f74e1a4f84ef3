package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/server"
	"redlocksim/live/internal/speed"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// What errors.Is finds in the errors of this package.
var (
	// ErrUnfit: a real deployment cannot show the scenario.
	ErrUnfit = errors.New("cannot be shown on tier live")
	// ErrNoServer: the server that the nodes run is not on this machine.
	ErrNoServer = server.ErrNotInstalled
	// ErrNoCompiler: the run changes a node's clock or takes its power, and there is no cc on this machine.
	ErrNoCompiler = faketime.ErrNoCompiler
)

// Unfit returns why server processes cannot show a scenario to the lock that the options say, as an error that matches
// ErrUnfit; nil if they can.
func Unfit(s *scenarios.Scenario, o Options) error {
	program, kind := o.Lock != nil, o.kind()
	var why []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	if service := s.Lock.Capabilities().Service; service != "" && !program {
		add("protocol %s talks to a %s, which takes a lock program for a real one", s.Lock.Protocol, service)
	}
	if len(s.Nodes.Replicas) > 0 && !kind.IsRedis {
		add("its nodes have replicas, which tier live does not set up for %s", kind.Name)
	}
	if s.Nodes.Server != redis.Redis70 || len(s.Nodes.Servers) > 0 {
		add("its nodes run servers of certain versions, and tier live the one that it finds")
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
		if m := s.Timeline[i].When.After; m != nil && (!m.IsRecorded() || m.Event == beliefEnded) {
			add("%s is a moment that nobody can see on real servers", m.Event)
		}
		if f := s.Timeline[i].Fault; f != nil {
			on := faults.LiveOf(f, speed.Deployment(s))
			if on.Not != "" {
				add("%s", on.Not)
			}
			if not := kind.Refuses(f, on); not != "" && !slices.Contains(s.Clients, faults.TargetOf(f)) {
				add("%s", not)
			}
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", s.Name, ErrUnfit, strings.Join(why, "; "))
}

// beliefEnded is the timeline's name for the end of a believed window. Only when a run is over is it known when that was.
var beliefEnded = faults.EventName(&history.Event{Kind: history.Expire})

// makesClients says whether an item makes another client in the place of one.
func makesClients(item scenarios.Item) bool {
	return slices.ContainsFunc(item.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.NewClientStep })
}

// needsClocks reports whether a fault of the scenario changes a client's clocks.
func needsClocks(s *scenarios.Scenario, client string) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		return it.Fault != nil && faults.LiveOf(it.Fault, speed.Deployment(s)).Clocks && faults.TargetOf(it.Fault) == client
	})
}
