package shrink

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios"
	"redlocksim/search/settings"
	"redlocksim/sim/network"
)

// far is where it no longer matters how large a number is: no run lasts as long. It keeps sums small.
const far = int64(48 * time.Hour)

// weigh says how far a scenario is from simple, what matters most first: how much clients do, and how many faults there are,
// however few words say so. Each change that is made lowers it, so that the search ends.
func weigh(s, base *scenarios.Scenario, root *yaml.Node, file []byte) []int64 {
	var work, replicas, counts, figures, size int64
	for _, item := range s.Timeline {
		for _, step := range item.Do {
			work += effort(step.Kind) * int64(max(item.Repeat, 1)*max(item.Goroutines, 1))
		}
		if item.Fault != nil {
			work++
		}
	}
	for _, of := range s.Nodes.Replicas {
		replicas += int64(len(of.Value))
	}
	latency := shape(s.Network.Latency.Latency)
	if r := s.Network.Replies; r != nil {
		latency += 1 + shape(r.Latency)
	}
	set := 0
	if base != nil {
		set = len(settings.Changed(s, base))
	}
	walk(root, nil, func(at place, _ *yaml.Node) {
		if at.is("timeline.every") {
			counts++
		}
	})
	different := map[int64]bool{} // numbers that a reader has to keep apart
	for _, q := range quantitiesOf(root) {
		value := min(q.value, far)
		switch {
		case q.isCount():
			counts += value
			continue
		case q.grows():
			size -= value
		default:
			size += value
		}
		different[q.value] = true
		figures += int64(digits(q.value))
	}
	return []int64{work, int64(len(s.Timeline)), int64(len(s.Clients) + len(s.Nodes.Names)), replicas, counts, int64(latency), int64(set),
		int64(len(bytes.Fields(file))), int64(s.Duration), int64(len(different)), figures, size, int64(disorder(s)), int64(len(renamed(s)))}
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
func effort(kind scenarios.StepKind) int64 {
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

// isLater says whether an item belongs behind another one: those that wait for events come last.
func isLater(a, b *scenarios.Item) bool {
	if (a.When.After == nil) != (b.When.After == nil) {
		return a.When.After != nil
	}
	return a.When.After == nil && a.When.At > b.When.At
}

// disorder is how many pairs of items are in the wrong order.
func disorder(s *scenarios.Scenario) int {
	n := 0
	for i := range s.Timeline {
		for j := range i {
			if isLater(&s.Timeline[j], &s.Timeline[i]) {
				n++
			}
		}
	}
	return n
}

var (
	clientName = regexp.MustCompile(`^client-\d+$`)
	nodeName   = regexp.MustCompile(`^[A-Z]$`)
)

// renamed are the names that clients and nodes would have if those that were taken out had never been there: clients by the
// order of the timeline, nodes by that in which they are listed. Names that are not drawn by a search stay.
func renamed(s *scenarios.Scenario) map[string]string {
	names := map[string]string{}
	add := func(all []string, drawn *regexp.Regexp, nth func(int) string) {
		if slices.ContainsFunc(all, func(name string) bool { return !drawn.MatchString(name) }) {
			return
		}
		for i, name := range all {
			if name != nth(i) {
				names[name] = nth(i)
			}
		}
	}
	var starting []string
	for _, item := range s.Timeline {
		if item.Client != "" && !slices.Contains(starting, item.Client) {
			starting = append(starting, item.Client)
		}
	}
	for _, name := range s.Clients {
		if !slices.Contains(starting, name) {
			starting = append(starting, name)
		}
	}
	add(starting, clientName, func(i int) string { return fmt.Sprintf("client-%d", i+1) })
	if len(s.Nodes.Replicas) == 0 {
		add(s.Nodes.Names, nodeName, func(i int) string { return string(rune('A' + i)) })
	}
	return names
}
