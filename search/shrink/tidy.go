package shrink

import (
	"reflect"
	"regexp"
	"slices"

	"redlocksim/scenarios"
)

// order has the timeline in the order of its times. What waits for an event stays behind what it stands behind.
func order(x *shrinker) {
	x.try(func(s *scenarios.Scenario) { s.Timeline = inOrder(s.Timeline) })
	for i := range len(x.now.Timeline) - 1 {
		if isLater(&x.now.Timeline[i], &x.now.Timeline[i+1]) {
			x.try(func(s *scenarios.Scenario) { s.Timeline[i], s.Timeline[i+1] = s.Timeline[i+1], s.Timeline[i] })
		}
	}
}

// names gives clients and nodes the names that they would have if there had been no others: all of them, or only the clients
// or the nodes, since random choices depend on names.
func names(x *shrinker) {
	of := func(kind *regexp.Regexp) {
		to := renamed(x.now)
		for name := range to {
			if kind != nil && !kind.MatchString(name) {
				delete(to, name)
			}
		}
		if len(to) > 0 {
			x.try(func(s *scenarios.Scenario) { rename(s, to) })
		}
	}
	of(nil)
	of(clientName)
	of(nodeName)
}

// rename calls clients and nodes by other names, all at once, and lists them by these.
func rename(s *scenarios.Scenario, to map[string]string) {
	change := func(name *string) {
		if other, ok := to[*name]; ok {
			*name = other
		}
	}
	all := func(names []string) {
		for i := range names {
			change(&names[i])
		}
	}
	all(s.Clients)
	slices.Sort(s.Clients)
	all(s.Nodes.Names)
	for i := range s.Expect.Grants {
		change(&s.Expect.Grants[i].Key)
	}
	for i := range s.Timeline {
		item := &s.Timeline[i]
		change(&item.Client)
		if m := item.When.After; m != nil {
			change(&m.Client)
			change(&m.Node)
		}
		if item.Fault != nil {
			leaves(reflect.ValueOf(item.Fault).Elem(), func(leaf reflect.Value) {
				switch v := leaf.Addr().Interface().(type) {
				case *string:
					change(v)
				case *[]string:
					all(*v)
				}
			})
		}
	}
}
