package scenarios_test

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// weaken changes the faults of one type in a copy of the timeline.
func weaken[F faults.Fault](s *scenarios.Scenario, change func(F) faults.Fault) {
	s.Timeline = append([]scenarios.Item(nil), s.Timeline...)
	for i := range s.Timeline {
		if f, ok := s.Timeline[i].Fault.(F); ok {
			s.Timeline[i].Fault = change(f)
		}
	}
}

// lock changes the settings of the lock, as a file would say it.
func lock(format string, args ...any) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		if err := strictyaml.Decode("lock", fmt.Appendf(nil, "{"+format+"}", args...), &s.Lock); err != nil {
			panic(err)
		}
	}
}

// later moves the faults of one type in a copy of the timeline.
func later[F faults.Fault](s *scenarios.Scenario, by time.Duration) {
	s.Timeline = append([]scenarios.Item(nil), s.Timeline...)
	for i := range s.Timeline {
		if _, ok := s.Timeline[i].Fault.(F); ok {
			if when := &s.Timeline[i].When; when.After == nil {
				when.At += by
			} else {
				when.Plus += by
			}
		}
	}
}

// noStep leaves clocks as they are.
func noStep(s *scenarios.Scenario) {
	weaken(s, func(f *faults.ClockStep) faults.Fault { return &faults.ClockStep{Process: f.Process} })
}

// stepOf has clocks step by d.
func stepOf(d time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.ClockStep) faults.Fault { return &faults.ClockStep{Process: f.Process, By: d} })
	}
}

// noStall has clocks stand still for an instant only; so do the next ones with their faults.
func noStall(s *scenarios.Scenario) {
	weaken(s, func(f *faults.ClockStall) faults.Fault { return &faults.ClockStall{Process: f.Process, For: 1} })
}

func noPause(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Pause) faults.Fault { return &faults.Pause{Process: f.Process, For: 1} })
}

// pauseOf has processes pause for d.
func pauseOf(d time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Pause) faults.Fault { return &faults.Pause{Process: f.Process, For: d} })
	}
}

func noDelay(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Delay) faults.Fault { return &faults.Delay{Links: f.Links, By: 1, For: f.For} })
}

func shortHold(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Hold) faults.Fault { return &faults.Hold{Links: f.Links, For: 1} })
}

func shortCut(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Partition) faults.Fault { return &faults.Partition{Links: f.Links, For: 1} })
}

// sameRates lets all clocks run at the rate of true time.
func sameRates(s *scenarios.Scenario) {
	weaken(s, func(f *faults.ClockRate) faults.Fault { return &faults.ClockRate{Process: f.Process} })
}

// survives has clients pause for an instant instead of crashing.
func survives(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Crash) faults.Fault { return &faults.Pause{Process: f.Client, For: 1} })
}

// restartAfter has killed nodes come back after this long.
func restartAfter(after time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Kill) faults.Fault {
			return &faults.Kill{Outage: faults.Outage{Node: f.Node, RestartAfter: &after}}
		})
	}
}

// counters has the counters that somebody sets be another number.
func counters(to int64) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.SetCounters) faults.Fault { return &faults.SetCounters{Node: f.Node, To: to} })
	}
}

// countersOfAll has the counters of all nodes be the largest, and not those of some.
func countersOfAll(s *scenarios.Scenario) {
	at := slices.IndexFunc(s.Timeline, func(i scenarios.Item) bool { return i.Kind == "set-counters" })
	for _, name := range s.Nodes.Names {
		one := s.Timeline[at]
		one.Fault = &faults.SetCounters{Node: name, To: 1<<53 - 1}
		s.Timeline = slices.Insert(slices.Clone(s.Timeline), at, one)
	}
}

// restarts has nodes come back at once after a power loss.
func restarts(s *scenarios.Scenario) {
	weaken(s, func(f *faults.PowerLoss) faults.Fault {
		return &faults.PowerLoss{Outage: faults.Outage{Node: f.Node, RestartAfter: new(time.Duration)}}
	})
}

// crashLater lets the client go on until it has sent EXPIRE.
func crashLater(s *scenarios.Scenario) { later[*faults.Crash](s, 10*time.Millisecond) }

// diesLater lets the master go on until its replica knows.
func diesLater(s *scenarios.Scenario) { later[*faults.PowerLoss](s, 100*time.Millisecond) }

// failsOverAfter has a replica take over so long after its master died.
func failsOverAfter(after time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		weaken(s, func(f *faults.Failover) faults.Fault {
			return &faults.Failover{Node: f.Node, Replica: f.Replica, After: after, RestartAfter: f.RestartAfter}
		})
	}
}

// everybodyFollows has all clients talk to the replica that was promoted.
func everybodyFollows(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Promote) faults.Fault { return &faults.Promote{Node: f.Node, Replica: f.Replica} })
}

// healedAtOnce ends partitions after a millisecond.
func healedAtOnce(s *scenarios.Scenario) {
	weaken(s, func(f *faults.Partition) faults.Fault {
		return &faults.Partition{Links: f.Links, For: time.Millisecond}
	})
}

// unguarded leaves the restart guard out, and the preparation of its nodes: what waits for that comes at once.
func unguarded(s *scenarios.Scenario) {
	protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = nil })
	var left []scenarios.Item
	for _, item := range s.Timeline {
		if item.Client == "operator" {
			continue
		}
		if after := item.When.After; after != nil && after.Event == "prepared" {
			item.When.After, item.When.At = nil, item.When.Plus
		}
		left = append(left, item)
	}
	s.Timeline = left
}

// allCommands has the servers allow every command.
func allCommands(s *scenarios.Scenario) { s.Nodes.Forbidden = "" }

// forgets has nodes lose their memory with a restart; remembers has them keep all of it.
func forgets(s *scenarios.Scenario) { s.Nodes.Persistence = redis.NoPersistence }

func remembers(s *scenarios.Scenario) { s.Nodes.Persistence = redis.Always }

// unfenced is a storage that takes every write.
func unfenced(s *scenarios.Scenario) { s.Storage = storage.Register }

// Other settings of the lock.
var (
	compares    = lock("release: cad")
	cleansUp    = lock("cleanup: cad")
	releasesAll = lock("failed-release: go-on")
	checked     = lock("validity: checked")
	unchecked   = lock("validity: unchecked")
)

// cleanUp has rows deleted at that age.
func cleanUp(age time.Duration) func(*scenarios.Scenario) { return lock("clean-up: %v", age) }

func drift(d time.Duration) func(*scenarios.Scenario) {
	return lock("drift: {constant: %v}", d)
}

// onClock measures validity by another clock.
func onClock(kind kernel.ClockKind) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Lock.Clock = kind }
}

// nodeTimeout gives up a node after d.
func nodeTimeout(d time.Duration) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) { s.Lock.NodeTimeout = d }
}

// steps changes each step of a copy of the timeline.
func steps(change func(scenarios.Step) scenarios.Step) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			s.Timeline[i].Do = slices.Clone(s.Timeline[i].Do)
			for j := range s.Timeline[i].Do {
				s.Timeline[i].Do[j] = change(s.Timeline[i].Do[j])
			}
		}
	}
}

// instead has clients do something else in place of a step, for a moment at least.
func instead(of, is scenarios.StepKind) func(*scenarios.Scenario) {
	return steps(func(s scenarios.Step) scenarios.Step {
		if s.Kind == of {
			s.Kind, s.For = is, max(s.For, 1)
		}
		return s
	})
}

// asUsual has a step call the lock as it is usually called.
func asUsual(of scenarios.StepKind) func(*scenarios.Scenario) {
	return steps(func(s scenarios.Step) scenarios.Step {
		if s.Kind == of && !s.Released {
			s.Calling = scenarios.Calling{}
		}
		return s
	})
}

// notAgain has nobody release or extend what is released already.
var notAgain = steps(func(s scenarios.Step) scenarios.Step {
	if s.Released {
		return scenarios.Step{Kind: scenarios.SleepStep, For: max(s.For, 1)}
	}
	return s
})

// steppingAs takes the timeline of another scenario.
func steppingAs(other string) func(*scenarios.Scenario) {
	return func(s *scenarios.Scenario) {
		as, known := scenarios.Find(other)
		if !known {
			panic("there is no scenario " + other)
		}
		s.Timeline = as.Timeline
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
