package shrink

import (
	"bytes"
	"slices"
	"time"

	"redlocksim/scenarios"
	"redlocksim/search/settings"
	"redlocksim/sim/network"
)

// weight is how far a scenario is from simple, what matters most first: how much clients do, and how many faults there are,
// however few words say so. Each change that is made lowers it, so that the
// search ends.
type weight []int64

// words is where the weight has how many words the file has.
const words = 10

func (w weight) less(o weight) bool { return slices.Compare(w, o) < 0 }

// far is where it no longer matters how large a number is: no run lasts as long. It keeps sums small.
const far = int64(48 * time.Hour)

func weigh(s *scenarios.Scenario, file []byte, base *scenarios.Scenario) weight {
	var work, steps, replicas, repeats, moments int
	for _, item := range s.Timeline {
		steps += len(item.Do)
		for _, step := range item.Do {
			work += effort(step.Kind) * max(item.Repeat, 1) * max(item.Goroutines, 1)
		}
		if item.Fault != nil {
			work++
		}
		repeats += item.Repeat + item.Goroutines
		if m := item.When.After; m != nil {
			moments += max(m.Nth, 1)
			if item.When.Every {
				moments++
			}
		}
	}
	for _, of := range s.Nodes.Replicas {
		replicas += len(of.Value)
	}
	latency := shape(s.Network.Latency.Latency)
	if r := s.Network.Replies; r != nil {
		latency += 1 + shape(r.Latency)
	}
	set := 0
	if base != nil {
		set = len(settings.Changed(s, base))
	}
	w := weight{int64(work), int64(len(s.Timeline)), int64(steps), int64(len(s.Clients)), int64(len(s.Nodes.Names)), int64(replicas), int64(repeats), int64(moments),
		int64(latency), int64(set), int64(len(bytes.Fields(file))), int64(s.Duration), int64(distinct(s))}
	var figures, size int64
	for _, n := range numbers(s) {
		value := n.get()
		figures += int64(digits(value))
		size += n.worse(min(value, far))
	}
	return append(w, figures, size, int64(disorder(s)), int64(len(renamed(s))))
}

// shape is 0 for no latency, 1 for a constant one, and more the more points there are.
func shape(l network.Latency) int {
	switch {
	case l.Max() == 0:
		return 0
	case l.Points[0].At == l.Max():
		return 1
	}
	return len(l.Points)
}

// effort is how much a step does: one operation, or a series of them.
func effort(kind scenarios.StepKind) int {
	switch kind {
	case scenarios.WithAllStep:
		return 8 // as with-lock, for several permits
	case scenarios.WithLockStep:
		return 4 // acquire, read, write, release
	case scenarios.UpdateStep:
		return 2 // read, write
	}
	return 1
}
