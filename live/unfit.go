package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// What errors.Is finds in the errors of this package.
var (
	// ErrUnfit: a real deployment cannot show the scenario.
	ErrUnfit = errors.New("cannot be shown on tier live")
	// ErrNoServer: there is no redis-server on this machine.
	ErrNoServer = errors.New("there is no redis-server on the PATH")
	// ErrNoCompiler: the run changes a node's clock or takes its power, and there is no cc on this machine.
	ErrNoCompiler = faketime.ErrNoCompiler
)

// DefaultSpeed is how many times as fast as its scenario a run is, unless Options say otherwise or the scenario cannot be hurried:
// if it has a fault that is longer than the node timeout and would be so no more, replicas that are slow, or times in whole
// seconds, or says so itself, the run is as slow as the scenario.
const DefaultSpeed = 5

// smallestNodeTimeout is what node timeouts are not divided below: answers take the time that the machine needs.
const smallestNodeTimeout = 50 * time.Millisecond

// calmNodeTimeout is how long a run in which nothing fails waits for an answer, which is late only on a busy machine; or a quarter
// of the TTL, if that is less.
const calmNodeTimeout = time.Second

// nodeTimeout is the node timeout of a run.
func nodeTimeout(s *scenarios.Scenario, speed int) time.Duration {
	by := time.Duration(speed)
	d := max(s.Lock.NodeTimeout/by, min(s.Lock.NodeTimeout, smallestNodeTimeout))
	if isFault := func(it scenarios.Item) bool { return it.Fault != nil }; !slices.ContainsFunc(s.Timeline, isFault) {
		d = max(d, min(calmNodeTimeout, s.Lock.TTL/by/4))
	}
	return d
}

// beyondTimeout are the lengths of a scenario's faults that are longer than its node timeout.
func beyondTimeout(s *scenarios.Scenario) []time.Duration {
	var long []time.Duration
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if d := f.Live(deployment(s)).Silence; d > s.Lock.NodeTimeout {
				long = append(long, d)
			}
		}
	}
	return long
}

// speedOf is how fast a scenario can be run. EXPIRE and clocks that are read in seconds have those of the machine.
func speedOf(s *scenarios.Scenario) int {
	const clearly = 10 * time.Millisecond
	if s.Lock.Protocol == "setnx-expire" || s.Lock.Resolution >= time.Second {
		return 1
	}
	for _, d := range beyondTimeout(s) {
		if d/DefaultSpeed < nodeTimeout(s, DefaultSpeed)+clearly {
			return 1
		}
	}
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil && f.Live(deployment(s)).Unhurried {
			return 1
		}
	}
	if s.Live.Speed > 0 {
		return min(s.Live.Speed, DefaultSpeed)
	}
	return DefaultSpeed
}

// Options say how to run. The zero value will do where the program answers to "live-client".
type Options struct {
	// Speed is how many times as fast as its scenario the run is; zero is DefaultSpeed, or 1 where a scenario needs it.
	// The faster, the more the speed of the machine shows.
	Speed int
	// Again, if not nil, is told of a run that does not count, and by how much the machine held it up.
	Again func(r *scenarios.Result, heldUp time.Duration)
	// Client is the command that starts a client process: it must end in a call of Client. Nil is this program with the
	// argument live-client.
	Client []string
}

// deployment is what the faults of a scenario are injected into.
func deployment(s *scenarios.Scenario) faults.Deployment {
	p, _ := protocols.Find(string(s.Lock.Protocol))
	return faults.Deployment{Protocol: p.Name, Subscribes: slices.Contains(p.Steps, protocols.Subscribed)}
}

// Unfit says why a scenario cannot be shown by redis-server processes; nil if it can. The error matches ErrUnfit.
func Unfit(s *scenarios.Scenario) error {
	var why []string
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	p, _ := protocols.Find(string(s.Lock.Protocol))
	if p.Service != "" {
		add("protocol %s talks to a %s, which is a part of the simulator", p.Name, p.Service)
	}
	if s.Live.Not != "" {
		add("%s", s.Live.Not)
	}
	if s.Lock.TTL/DefaultSpeed < 100*time.Millisecond {
		add("a TTL of %v is too short to be divided", s.Lock.TTL)
	}
	for i := range s.Timeline {
		if m := s.Timeline[i].When.After; m != nil && m.Event == faults.NodesFree {
			add("%s is a moment that nobody can see on real servers", m.Event)
		}
		if f := s.Timeline[i].Fault; f != nil {
			if not := f.Live(deployment(s)).Not; not != "" {
				add("%s", not)
			}
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", s.Name, ErrUnfit, strings.Join(why, "; "))
}
