package shrink

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"redlocksim/scenarios"
)

// inOrder is a timeline by the times of its items, and then those that wait for events.
func inOrder(timeline []scenarios.Item) []scenarios.Item {
	sorted := slices.Clone(timeline)
	slices.SortStableFunc(sorted, func(a, b scenarios.Item) int {
		switch {
		case isLater(&a, &b):
			return 1
		case isLater(&b, &a):
			return -1
		}
		return 0
	})
	return sorted
}

// isLater says whether an item belongs behind another one.
func isLater(a, b *scenarios.Item) bool {
	if (a.When.After == nil) != (b.When.After == nil) {
		return a.When.After != nil
	}
	return a.When.After == nil && cmp.Compare(a.When.At, b.When.At) > 0
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
// order in which they start, nodes by that in which they are listed. Names that are not drawn by a search stay.
func renamed(s *scenarios.Scenario) map[string]string {
	names := map[string]string{}
	var starting []string
	for _, item := range inOrder(s.Timeline) {
		if item.Client != "" && !slices.Contains(starting, item.Client) {
			starting = append(starting, item.Client)
		}
	}
	for _, name := range s.Clients {
		if !slices.Contains(starting, name) {
			starting = append(starting, name)
		}
	}
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
	add(starting, clientName, func(i int) string { return fmt.Sprintf("client-%d", i+1) })
	if len(s.Nodes.Replicas) == 0 {
		add(s.Nodes.Names, nodeName, func(i int) string { return string(rune('A' + i)) })
	}
	return names
}
