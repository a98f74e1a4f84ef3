package model

import (
	"redlocksim/sim/kernel"
)

// Fingerprint implements redis.Fingerprinted. It does not depend on the order of the map's keys.
func (s *store) Fingerprint() kernel.Key {
	print := kernel.Key(s.scripts).With(uint64(len(s.known)))
	for name, r := range s.keys {
		print ^= kernel.Key(0).WithString(name).WithString(r.value).With(uint64(r.expiresAt))
	}
	return print
}
