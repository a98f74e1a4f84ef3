package model

import (
	"testing"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
)

// TestFingerprint: memories that differ in anything have other fingerprints, and those that do not have the same.
func TestFingerprint(t *testing.T) {
	with := func(scripts batch.Scripts, known int, keys map[string]record) *store {
		s := &store{scripts: scripts, keys: keys, known: map[*rediscmd.Script]bool{}}
		for range known {
			s.known[new(rediscmd.Script)] = true
		}
		return s
	}
	one := record{value: "v", expiresAt: 10}
	all := map[string]*store{
		"empty":            with(0, 0, nil),
		"a script":         with(1, 0, nil),
		"another script":   with(2, 0, nil),
		"a protocol's":     with(0, 1, nil),
		"a key":            with(0, 0, map[string]record{"k": one}),
		"another key":      with(0, 0, map[string]record{"l": one}),
		"another value":    with(0, 0, map[string]record{"k": {value: "w", expiresAt: 10}}),
		"another deadline": with(0, 0, map[string]record{"k": {value: "v", expiresAt: 11}}),
		"two keys":         with(0, 0, map[string]record{"k": one, "l": one}),
	}
	for a, first := range all {
		for b, second := range all {
			if (first.Fingerprint() == second.Fingerprint()) != (a == b) {
				t.Errorf("%s and %s", a, b)
			}
		}
	}
	if a, b := with(0, 0, map[string]record{"k": one, "l": one}), with(0, 0, map[string]record{"l": one, "k": {value: "v", expiresAt: 10}}); a.Fingerprint() != b.Fingerprint() {
		t.Error("when a lock was taken is for the books only")
	}
}
