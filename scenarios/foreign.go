package scenarios

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// Foreign is somebody's lock, in the place of a scenario's protocol.
type Foreign struct {
	// Name says which it is, for people.
	Name string
	// Build tells it from others of the same name; empty if nobody needs to.
	Build string
	// New makes that of a client.
	New func(protocols.Env) (protocols.Locker, error)
	// IsProgram says that it is a program of its own, for tier Program.
	IsProgram bool
	// Renews says that it renews leases by itself: how long others wait is up to the holder.
	Renews bool
	// OneNode says that it is a lock on one node alone, however many there are.
	OneNode bool
	// Keys are patterns of the keys that stand for a lock, with {resource} for its name and * for anything; nil if nobody has
	// declared them.
	Keys []string
	// Reads says whether it reads a key of the scenario's lock; nil if nobody knows.
	Reads func(key string) bool
	// Unable is why it cannot do what the clients of a scenario do; nil if it can, or if nobody knows.
	Unable func(*Scenario) error
}

func (f *Foreign) keys() []string {
	if f == nil {
		return nil
	}
	return f.Keys
}

// tier is where a run with these options is made.
func (o *Options) tier() Tier {
	switch {
	case o.Foreign != nil && o.Foreign.IsProgram:
		return Program
	case o.Tier == "":
		return Model
	}
	return o.Tier
}

// FirstNode is the first node that faults happen to, or else the first that they cut off; the first of all if they name none. A
// program for locks on one node has them there.
func (s *Scenario) FirstNode() string {
	var hit, linked []string
	for i := range s.Timeline {
		switch f := s.Timeline[i].Fault.(type) {
		case nil:
		case interface{ NamedNodes() []string }:
			linked = append(linked, f.NamedNodes()...)
		default:
			hit = append(hit, f.Target())
		}
	}
	for _, name := range append(hit, linked...) {
		if slices.Contains(s.Nodes.Names, name) {
			return name
		}
	}
	return s.Nodes.Names[0]
}

var _ interface{ NamedNodes() []string } = (*faults.Links)(nil)
