package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// ErrUnfit is what errors.Is finds in the error of [Unfit].
var ErrUnfit = errors.New("cannot be shown on tier live")

// DefaultSpeed is how many times as fast as its scenario a run is, unless Options say otherwise or the scenario cannot be hurried:
// if it has a fault that is longer than the node timeout and would be so no more, replicas that are slow, or times in whole
// seconds, the run is as slow as the scenario.
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
		var d time.Duration
		switch f := s.Timeline[i].Fault.(type) {
		case *faults.Partition:
			d = f.For
		case *faults.Hold:
			d = f.For
		case *faults.Delay:
			d = f.By
		}
		if d > s.Lock.NodeTimeout {
			long = append(long, d)
		}
	}
	return long
}

// speedOf is how fast a scenario can be run. EXPIRE and clocks that are read in seconds have those of the machine.
func speedOf(s *scenarios.Scenario) int {
	const clearly = 10 * time.Millisecond
	if s.Lock.Protocol == "setnx-expire" || s.Lock.Resolution >= time.Second || slices.Contains(unhurried, s.Name) {
		return 1
	}
	for _, d := range beyondTimeout(s) {
		if d/DefaultSpeed < nodeTimeout(s, DefaultSpeed)+clearly {
			return 1
		}
	}
	for i := range s.Timeline {
		// What a master has not told its replicas yet is lost if it stops now: no sooner than it takes to stop it.
		if d, ok := s.Timeline[i].Fault.(*faults.Delay); ok && len(d.Peers) > 0 {
			return 1
		}
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

// unhurried are the scenarios in which less than a millisecond would decide at DefaultSpeed.
var unhurried = []string{"51-implementations/node-redlock"}

// decidedByTime are the scenarios whose verdict hangs on times that a machine does not keep to, by their names or the
// parts before the slash.
var decidedByTime = map[string]string{
	"boundaries":                                "it is decided by a single millisecond",
	"01-setnx-then-expire/an-hour":              "it is there for its length, beside the case a-minute",
	"02-get-then-set":                           "its clients must read what they update within a millisecond of each other",
	"14-partition-at-every-attempt/a-minute":    "it is there for its length, beside the case healed",
	"14-partition-at-every-attempt/two-minutes": "it is there for its length, beside the case healed",
	"38-orphaned-votes":                         "its requests must be sent within 10 ms of the beginning",
	"60-own-old-votes":                          "its requests must be sent within 5 ms of the beginning",
	"62-round-trips":                            "it lasts for as long as its messages take in the simulator",
	"67-batches/answered":                       "its moments are a few ms apart",
	"76-guard-time":                             "its client must look at its lease at the last nanosecond at which it may",
	"74-joint-commands":                         "its moments are a few ms apart",
	"67-batches/behind-silence":                 "its moments are 2 ms apart",
	"35-fencing-and-reads/reads-unchecked":      "it is decided by which of two messages of the same moment comes first",
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
	family, _, _ := strings.Cut(s.Name, "/")
	for _, name := range []string{s.Name, family} {
		if text := decidedByTime[name]; text != "" {
			add("%s", text)
		}
	}
	if s.Lock.TTL/DefaultSpeed < 100*time.Millisecond {
		add("a TTL of %v is too short to be divided", s.Lock.TTL)
	}
	for i := range s.Timeline {
		if m := s.Timeline[i].When.After; m != nil && m.Event == faults.NodesFree {
			add("%s is a moment that nobody can see on real servers", m.Event)
		}
		switch s.Timeline[i].Fault.(type) {
		case *faults.Reset:
			if slices.Contains(p.Steps, protocols.Subscribed) {
				add("protocol %s subscribes, and after a reset go-redis subscribes again", p.Name)
			}
		case nil, *faults.Partition, *faults.Hold, *faults.Delay, *faults.Pause, *faults.Resume,
			*faults.Stuck, *faults.Crash, *faults.Restart, *faults.ClockStep, *faults.ClockRate, *faults.Suspend,
			*faults.Kill, *faults.PowerLoss, *faults.Shutdown, *faults.Promote:
		case *faults.Split:
			add("a proxy does not know where in a batch one command ends and the next begins")
		default:
			add("%s cannot be made to happen to real processes", s.Timeline[i].Kind)
		}
	}
	if why == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", s.Name, ErrUnfit, strings.Join(why, "; "))
}
