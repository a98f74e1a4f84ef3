package model

import (
	"testing"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/sim/redis"
)

// TestFingerprint: memories that differ in anything have other fingerprints, and those that do not have the same.
func TestFingerprint(t *testing.T) {
	with := func(scripts batch.Scripts, known int, keys map[string]redis.Record) *store {
		s := &store{scripts: scripts, keys: keys, known: map[*rediscmd.Script]bool{}}
		for range known {
			s.known[new(rediscmd.Script)] = true
		}
		return s
	}
	one := redis.Record{Value: "v", ExpiresAt: 10}
	all := map[string]*store{
		"empty":            with(0, 0, nil),
		"a script":         with(1, 0, nil),
		"another script":   with(2, 0, nil),
		"a protocol's":     with(0, 1, nil),
		"a key":            with(0, 0, map[string]redis.Record{"k": one}),
		"another key":      with(0, 0, map[string]redis.Record{"l": one}),
		"another value":    with(0, 0, map[string]redis.Record{"k": {Value: "w", ExpiresAt: 10}}),
		"another deadline": with(0, 0, map[string]redis.Record{"k": {Value: "v", ExpiresAt: 11}}),
		"two keys":         with(0, 0, map[string]redis.Record{"k": one, "l": one}),
	}
	for a, first := range all {
		for b, second := range all {
			if (first.Fingerprint() == second.Fingerprint()) != (a == b) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
	if a, b := with(0, 0, map[string]redis.Record{"k": one, "l": one}), with(0, 0, map[string]redis.Record{"l": one, "k": {Value: "v", ExpiresAt: 10}}); a.Fingerprint() != b.Fingerprint() {
		t.Error("when a lock was taken is for the books only")
	}
}
