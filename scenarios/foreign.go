package scenarios

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// Foreign is somebody's lock, in the place of a scenario's protocol.
type Foreign struct {
	// New makes that of a client.
	New func(protocols.Env) (protocols.Locker, error)
	// IsProgram says that it is a program of its own, for tier Program.
	IsProgram bool
	// Keys are patterns of the keys that stand for a lock, with {resource} for its name and * for anything; nil if nobody has
	// declared them.
	Keys []string
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

// firstNode is the first node that the faults name; the first of all if they name none.
func (s *Scenario) firstNode() string {
	for i := range s.Timeline {
		f := s.Timeline[i].Fault
		if f == nil {
			continue
		}
		named := []string{f.Target()}
		if between, has := f.(interface{ NamedNodes() []string }); has {
			named = between.NamedNodes()
		}
		for _, name := range named {
			if slices.Contains(s.Nodes.Names, name) {
				return name
			}
		}
	}
	return s.Nodes.Names[0]
}

var _ interface{ NamedNodes() []string } = (*faults.Links)(nil)
