package why

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/quorum"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Change is something that might have prevented what went wrong.
type Change struct {
	// Kind names changes of the same setting, What says this one in words.
	Kind, What string
	// Ladder says that it is one of several of its kind, each more than the one before.
	Ladder bool

	// apply makes it; false if there is nothing to change.
	apply func(*scenarios.Scenario) bool
}

// both is two changes as one.
func both(a, b Change) Change {
	return Change{Kind: a.Kind + " and " + b.Kind, What: a.What + "; and " + b.What, apply: func(s *scenarios.Scenario) bool {
		return a.apply(s) && b.apply(s)
	}}
}

// otherEnd makes items of the timeline wait for the failure of a call instead of its success, and the other way round.
func otherEnd(items []int) Change {
	const done, failed = "-done", "-failed"
	return Change{apply: func(s *scenarios.Scenario) bool {
		changed := false
		for _, i := range items {
			m := s.Timeline[i].When.After
			if m == nil {
				continue
			}
			if call, ok := strings.CutSuffix(m.Event, done); ok {
				m.Event, changed = call+failed, true
			} else if call, ok := strings.CutSuffix(m.Event, failed); ok {
				m.Event, changed = call+done, true
			}
		}
		return changed
	}}
}

// ladder is one change a rung; what says it in words.
func ladder[T any](kind string, what func(T) string, rungs []T, apply func(*scenarios.Scenario, T) bool) []Change {
	var all []Change
	for _, rung := range rungs {
		all = append(all, Change{Kind: kind, What: what(rung), Ladder: true,
			apply: func(s *scenarios.Scenario) bool { return apply(s, rung) }})
	}
	return all
}

// changes are those that can be tried on a scenario: those that are more than another word for a setting, then every word
// of every setting that has words, and the lock of the library as it comes.
func changes(s *scenarios.Scenario) []Change {
	nodes := len(s.Nodes.Names)
	var quorums []int
	for q := max(protocols.Of[protocols.QuorumSettings](s.Lock).Quorum, quorum.Majority(nodes)) + 1; q <= nodes; q++ {
		quorums = append(quorums, q)
	}
	return slices.Concat(
		[]Change{
			{Kind: "fencing", What: "fencing tokens, and a resource that rejects lower ones", apply: fence},
			{Kind: "guard", What: "the restart guard, with the time to live as its maximum", apply: guard},
			{Kind: "clients", What: "clients that stop when their lease ends, and check it before they write", apply: stopInTime},
			{Kind: "guard-time", What: fmt.Sprintf("clients that stop sending effects %v before their lease ends", reserve(s)), apply: keepInReserve},
		},
		ladder("restart", staysDown, []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond, time.Second},
			func(s *scenarios.Scenario, more time.Duration) bool { return restartLater(s, s.Lock.TTL+more) }),
		ladder("drift",
			func(r faults.Rate) string { return fmt.Sprintf("a drift allowance of %v of the time to live", r) }, []faults.Rate{faults.PPM(20_000), faults.PPM(50_000), faults.PPM(100_000), faults.PPM(200_000), faults.PPM(400_000)},
			func(s *scenarios.Scenario, r faults.Rate) (more bool) {
				return protocols.Change(&s.Lock, func(own *protocols.DriftSettings) {
					more = r.PPB() > own.Drift.Factor.PPB()
					own.Drift.Factor = r
				}) && more
			}),
		ladder("quorum", func(q int) string { return fmt.Sprintf("a quorum of %d", q) }, quorums, func(s *scenarios.Scenario, q int) bool {
			return protocols.Change(&s.Lock, func(own *protocols.QuorumSettings) { own.Quorum = q })
		}),
		ladder("ttl",
			func(times int) string { return fmt.Sprintf("a time to live %d times as long", times) }, []int{2, 5, 10}, func(s *scenarios.Scenario, times int) bool {
				s.Lock.TTL *= time.Duration(times)
				protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) {
					if own.Guard != nil {
						guard := *own.Guard
						guard.MaxTTL *= time.Duration(times)
						own.Guard = &guard
					}
				})
				return true
			}),
		wordsOf("nodes", strictyaml.Fields(reflect.TypeFor[scenarios.Nodes]()), func(s *scenarios.Scenario) *scenarios.Nodes { return &s.Nodes }),
		wordsOf("lock", s.Lock.Protocol.Keys(), func(s *scenarios.Scenario) *protocols.Settings { return &s.Lock }),
		[]Change{
			{Kind: library, What: "the lock of the library, with its defaults", apply: asItComes},
		},
	)
}

func staysDown(more time.Duration) string {
	if more == 0 {
		return "nodes that stay down for the time to live"
	}
	return fmt.Sprintf("nodes that stay down for the time to live and %v more", more)
}

// fence makes the lock draw tokens, if it can, and the resource check them.
func fence(s *scenarios.Scenario) bool {
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Fencing = true })
	changed := s.Storage != storage.Fenced
	s.Storage = storage.Fenced
	return changed
}

// readying is how long an operator has to declare all nodes fit to vote, before anything else happens.
const readying = time.Second

// guard turns the restart guard on. Somebody must then declare the nodes fit to vote, so everything else starts later.
func guard(s *scenarios.Scenario) bool {
	const operator = "operator"
	if slices.Contains(s.Clients, operator) || s.Heal != nil {
		return false
	}
	fresh := false
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) {
		if fresh = own.Guard == nil; fresh {
			own.Guard = &protocols.Guard{MaxTTL: s.Lock.TTL}
		}
	})
	if !fresh {
		return false
	}
	for i := range s.Timeline {
		if when := &s.Timeline[i].When; when.After == nil {
			when.At += readying
		}
	}
	s.Clients = append(s.Clients, operator)
	s.Timeline = append(s.Timeline, scenarios.Item{Client: operator, Do: []scenarios.Step{{Kind: scenarios.PrepareStep}}, Repeat: 1})
	s.Duration += readying
	return true
}

// stopInTime makes clients stop where they carried on without checking their lease.
func stopInTime(s *scenarios.Scenario) bool {
	changed := false
	for i := range s.Timeline {
		locked := 0
		for j := range s.Timeline[i].Do {
			switch step := &s.Timeline[i].Do[j]; {
			case step.Kind == scenarios.LockStep || step.Kind == scenarios.TryLockStep:
				locked++
			case step.Kind == scenarios.UnlockStep:
				locked--
			case step.Kind == scenarios.SleepStep && locked > 0:
				step.Kind, changed = scenarios.HoldStep, true
			case step.Kind == scenarios.WriteUncheckedStep:
				step.Kind, changed = scenarios.WriteStep, true
			}
		}
	}
	return changed
}

// reserve is the longest that anything in the timeline stops a client or a message, with the longest message, in tenths of a
// second; zero if nothing does.
func reserve(s *scenarios.Scenario) time.Duration {
	longest := time.Duration(0)
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			longest = max(longest, faults.Late(f))
		}
	}
	if longest == 0 {
		return 0
	}
	const tenth = 100 * time.Millisecond
	return (longest + s.Network.Latency.Max()).Truncate(tenth) + tenth
}

// keepInReserve makes clients stop sending effects early enough for them to arrive in time, if that leaves any of the lease.
func keepInReserve(s *scenarios.Scenario) bool {
	r := reserve(s)
	if r <= s.Lock.GuardTime || r >= s.Lock.TTL {
		return false
	}
	s.Lock.GuardTime = r
	return true
}

// restartLater keeps nodes that come back earlier down for so long, by true time.
func restartLater(s *scenarios.Scenario, after time.Duration) bool {
	changed := false
	for i := range s.Timeline {
		f, stops := s.Timeline[i].Fault.(interface{ Down() *faults.Outage })
		if !stops {
			continue
		}
		o := f.Down()
		if o.RestartAfter != nil && (*o.RestartAfter < after || o.ByWallClock) {
			o.RestartAfter, o.ByWallClock, changed = &after, false, true
		}
	}
	return changed
}

// library is the kind of the change to the lock of the library.
const library = "library"

// asItComes is the lock of the library with its defaults, except for the time to live.
func asItComes(s *scenarios.Scenario) bool {
	ttl := s.Lock.TTL
	s.Lock = protocols.Default()
	s.Lock.TTL = ttl
	return true
}

// given are the types of what has words and is nobody's setting: which implementation or protocol it is, what servers there
// are, and what they forbid.
var given = []reflect.Type{reflect.TypeFor[protocols.Preset](), reflect.TypeFor[protocols.Name](), reflect.TypeFor[redis.Software](), reflect.TypeFor[scenarios.Command]()}

// wordsOf are the changes of the settings that have words, each to every other of its words, in a part of the scenario.
func wordsOf[T any](path string, fields []strictyaml.Field, part func(*scenarios.Scenario) *T) []Change {
	var all []Change
	for _, f := range fields {
		if slices.Contains(given, f.Type) {
			continue
		}
		var tried []any
		for _, word := range strictyaml.WordsOf(f.Type) {
			value := reflect.New(f.Type)
			if err := strictyaml.DecodeNode(path, strictyaml.Text(word), value.Interface()); err != nil || slices.Contains(tried, value.Elem().Interface()) {
				continue // another word for the same
			}
			tried = append(tried, value.Elem().Interface())
			all = append(all, Change{Kind: path + "." + f.Key, What: fmt.Sprintf("%s.%s: %s", path, f.Key, word), apply: func(s *scenarios.Scenario) bool {
				to := part(s)
				before := *to
				err := strictyaml.DecodeValue(path, f.Key, word, to)
				return err == nil && !reflect.DeepEqual(*to, before)
			}})
		}
	}
	return all
}
