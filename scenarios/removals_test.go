package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// removal takes something away from a scenario, of which it changes nothing that others share.
type removal = func(*scenarios.Scenario)

// text changes the scenario's file.
func text(old, new string) removal {
	return func(s *scenarios.Scenario) {
		data, err := s.Encode()
		changed := strings.ReplaceAll(string(data), old, new)
		if err != nil || changed == string(data) {
			panic(fmt.Sprintf("%s: %v, there is no %q", s.Name, err, old))
		}
		reread(s, []byte(changed))
	}
}

// file lays other keys over the scenario's file, as a case does.
func file(keys string) removal {
	return func(s *scenarios.Scenario) {
		data, err := s.Encode()
		if err == nil {
			data, err = yaml.Marshal(strictyaml.Merge(must(strictyaml.ValueOf(string(data))), must(strictyaml.ValueOf("{"+keys+"}"))))
		}
		if err != nil {
			panic(err)
		}
		reread(s, data)
	}
}

func reread(s *scenarios.Scenario, data []byte) {
	name := s.Name
	*s = *must(scenarios.Parse("changed.yaml", data))[0]
	s.Name = name
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fault lays other keys over the faults of a kind.
func fault(kind, keys string) removal {
	return timeline(func(item *scenarios.Item) {
		if item.Kind != kind {
			return
		}
		k, _ := faults.Find(kind)
		changed := k.New()
		n := strictyaml.Merge(must(strictyaml.ValueOf(string(must(strictyaml.Encode(item.Fault, k.New()))))), must(strictyaml.ValueOf("{"+keys+"}")))
		if err := strictyaml.DecodeNode(kind, n, changed); err != nil {
			panic(err)
		}
		item.Fault = changed
	})
}

// timeline changes each item of a copy of the timeline.
func timeline(change func(*scenarios.Item)) removal {
	return func(s *scenarios.Scenario) {
		s.Timeline = slices.Clone(s.Timeline)
		for i := range s.Timeline {
			change(&s.Timeline[i])
		}
	}
}

// lock changes the settings of the lock, as a file would say it.
func lock(format string, args ...any) removal {
	return func(s *scenarios.Scenario) {
		if err := strictyaml.Decode("lock", fmt.Appendf(nil, "{"+format+"}", args...), &s.Lock); err != nil {
			panic(err)
		}
	}
}

// later moves the faults of a kind.
func later(kind string, by time.Duration) removal {
	return timeline(func(item *scenarios.Item) {
		switch {
		case item.Kind != kind:
		case item.When.After == nil:
			item.When.At += by
		default:
			item.When.Plus += by
		}
	})
}

// survives has clients pause for an instant instead of crashing.
var survives = timeline(func(item *scenarios.Item) {
	if f, is := item.Fault.(*faults.Crash); is {
		item.Fault = &faults.Pause{Process: f.Client, For: 1}
	}
})

// twoVotes has client 1 keep two of its three votes to itself.
func twoVotes(s *scenarios.Scenario) {
	fault("partition", "nodes: [D, E]")(s)
	fault("delay", "nodes: [A, B, C]")(s)
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

// unguarded leaves the restart guard out, and the preparation of its nodes: what waits for that comes at once.
func unguarded(s *scenarios.Scenario) {
	var left []scenarios.Item
	for _, item := range s.Timeline {
		if item.Client == "operator" {
			continue
		}
		if after := item.When.After; after != nil && after.Event == "prepared" {
			item.When = faults.Trigger{At: item.When.Plus}
		}
		left = append(left, item)
	}
	s.Timeline = left
	file("lock: {guard: null}")(s)
}

// steps changes each step of a copy of the timeline.
func steps(change func(scenarios.Step) scenarios.Step) removal {
	return timeline(func(item *scenarios.Item) {
		item.Do = slices.Clone(item.Do)
		for j := range item.Do {
			item.Do[j] = change(item.Do[j])
		}
	})
}

// instead has clients do something else in place of a step, for a moment at least.
func instead(of, is scenarios.StepKind) removal {
	return steps(func(s scenarios.Step) scenarios.Step {
		if s.Kind == of {
			s.Kind, s.For = is, max(s.For, 1)
		}
		return s
	})
}

// asUsual has a step call the lock as it is usually called.
func asUsual(of scenarios.StepKind) removal {
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
func steppingAs(other string) removal {
	return func(s *scenarios.Scenario) {
		as, known := scenarios.Find(other)
		if !known {
			panic("there is no scenario " + other)
		}
		s.Timeline = as.Timeline
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
