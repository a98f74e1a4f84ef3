package model

import "redlocksim/sim"

// Fingerprint implements sim.Telling. Whatever the order of the keys: those of a map have none.
func (s *store) Fingerprint() sim.Key {
	print := sim.Key(s.scripts).With(uint64(len(s.known)))
	for name, r := range s.keys {
		print ^= sim.Key(0).WithString(name).WithString(r.value).With(uint64(r.expiresAt))
	}
	return print
}
