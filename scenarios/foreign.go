package scenarios

import (
	"context"
	"errors"
	"slices"

	"redlocksim/faults"
	"redlocksim/internal/jobs"
	"redlocksim/scenarios/protocols"
)

// Foreign is somebody's lock, in the place of a scenario's protocol.
type Foreign struct {
	// Name says which it is, for people.
	Name string
	// Build tells it from others of the same name; empty if nobody needs to.
	Build string
	// Module is what it is made of on other machines; nil if it cannot be.
	Module *Module
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

// Module is a program as it goes to other machines, where the same lock is made of it.
type Module struct {
	// Name is what it is given as its own name, and Args are its arguments.
	Name string
	Args []string
	// Hash is the SHA-256 of Wasm, by which that is fetched there.
	Hash string
	Wasm []byte `json:"-"`
}

// Loader makes a lock of a module whose Wasm is to be fetched.
type Loader func(ctx context.Context, m *Module, fetch func(ctx context.Context, hash string) ([]byte, error)) (*Foreign, error)

// errOnlyHere says that runs of a lock cannot be made on other machines.
var errOnlyHere = errors.New("workers do not have the lock: it is no lock program")

// Portable is the lock's module; nil if there is no lock, and an error if it is one of this process alone.
func (f *Foreign) Portable() (*Module, error) {
	switch {
	case f == nil:
		return nil, nil
	case f.Module == nil:
		return nil, errOnlyHere
	}
	return f.Module, nil
}

// Files are what other machines fetch to make the lock.
func (f *Foreign) Files() []jobs.File {
	if f == nil || f.Module == nil {
		return nil
	}
	return []jobs.File{{Hash: f.Module.Hash, Bytes: f.Module.Wasm}}
}

func (f *Foreign) keys() []string {
	if f == nil {
		return nil
	}
	return f.Keys
}

// On is where a run with these options is made.
func (o *Options) On() Tier {
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
		f := s.Timeline[i].Fault
		if f == nil {
			continue
		}
		hit = append(hit, faults.TargetOf(f))
		if l := faults.Part[faults.Links](f); l != nil {
			linked = append(linked, l.Nodes...)
		}
	}
	for _, name := range append(hit, linked...) {
		if slices.Contains(s.Nodes.Names, name) {
			return name
		}
	}
	return s.Nodes.Names[0]
}

// Makes says whether its clients can make steps of this kind: all of them if f is nil, or if nobody knows better.
func (f *Foreign) Makes(kind StepKind) bool {
	if f == nil || f.Unable == nil {
		return true
	}
	s := Default()
	s.Timeline = []Item{{Do: []Step{{Kind: kind}}}}
	return f.Unable(&s) == nil
}
