package shrink

import (
	"reflect"
	"slices"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/sim/redis"
)

// strip takes a client, node or replica out of a scenario, with all items that cannot do without it.
func strip(s *scenarios.Scenario, name string) {
	is := func(n string) bool { return n == name }
	s.Clients = slices.DeleteFunc(s.Clients, is)
	s.Nodes.Names = slices.DeleteFunc(s.Nodes.Names, is)
	for i := 0; i < len(s.Nodes.Replicas); {
		of := &s.Nodes.Replicas[i]
		if is(of.Key) {
			of.Value = nil
		}
		of.Value = slices.DeleteFunc(of.Value, is)
		if len(of.Value) == 0 {
			s.Nodes.Replicas = slices.Delete(s.Nodes.Replicas, i, i+1)
			continue
		}
		i++
	}
	s.Nodes.Servers = slices.DeleteFunc(s.Nodes.Servers, func(of strictyaml.Entry[redis.Software]) bool { return is(of.Key) })
	for i := 0; i < len(s.Expect.Grants); {
		if is(s.Expect.Grants[i].Key) {
			s.Expect.Grants = slices.Delete(s.Expect.Grants, i, i+1)
			continue
		}
		i++
	}
	s.Timeline = slices.DeleteFunc(s.Timeline, func(item scenarios.Item) bool { return needs(&item, name) })
}

// needs takes a name out of the lists of an item, and says whether the item is nothing without it. A list that becomes
// empty would mean all.
func needs(item *scenarios.Item, name string) bool {
	if m := item.When.After; item.Client == name || m != nil && (m.Client == name || m.Node == name) {
		return true
	}
	needed := false
	if item.Fault != nil {
		leaves(reflect.ValueOf(item.Fault).Elem(), func(leaf reflect.Value) {
			switch v := leaf.Addr().Interface().(type) {
			case *string:
				needed = needed || *v == name
			case *[]string:
				if !slices.Contains(*v, name) {
					return
				}
				*v = slices.DeleteFunc(*v, func(n string) bool { return n == name })
				needed = needed || len(*v) == 0
			}
		})
	}
	return needed
}
