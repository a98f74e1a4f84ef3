package shrink

import (
	"reflect"

	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// drawn leaves settings that were drawn as they are in what they were drawn around, where it is the same without them.
func drawn(x *shrinker) {
	if x.base != nil {
		settings.Each(x.base, func(back func(*scenarios.Scenario)) { x.try(back) })
	}
}

// defaults leaves out settings without which it is the same, so that a file has those that matter. The protocol and the
// budget are what is asked about and stay.
func defaults(x *shrinker) {
	std := scenarios.Default()
	reset := func(part func(*scenarios.Scenario) any, keep ...string) {
		from := reflect.ValueOf(part(&std)).Elem()
		for i := range from.NumField() {
			kept := false
			for _, name := range keep {
				kept = kept || from.Type().Field(i).Name == name
			}
			_, ok := from.Type().Field(i).Tag.Lookup("yaml")
			if ok && !kept && !reflect.DeepEqual(reflect.ValueOf(part(x.now)).Elem().Field(i).Interface(), from.Field(i).Interface()) {
				x.try(func(s *scenarios.Scenario) { reflect.ValueOf(part(s)).Elem().Field(i).Set(from.Field(i)) })
			}
		}
	}
	lock := std.Lock.With(x.now.Lock.Protocol)
	for _, f := range x.now.Lock.Protocol.Keys() {
		now := x.now.Lock
		if f.Key != "protocol" && f.Key != "preset" && now.Take(f.Key, lock) {
			x.try(func(s *scenarios.Scenario) { s.Lock.Take(f.Key, lock) })
		}
	}
	reset(func(s *scenarios.Scenario) any { return &s.Nodes }, "Names", "Replicas")
	reset(func(s *scenarios.Scenario) any { return s },
		"Title", "Source", "Explanation", "Claim", "Lock", "Nodes", "Clients", "Resources", "Network", "Budget", "Timeline", "Duration", "Expect")
}
