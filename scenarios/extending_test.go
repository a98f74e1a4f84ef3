package scenarios

import (
	"slices"
	"testing"

	"redlocksim/scenarios/protocols"
)

// An extend that arrives late sets less time than is left, unless every extend is by the lock's own TTL.
func TestFixedTTL(t *testing.T) {
	i := slices.IndexFunc(Catalogue(), func(s *Scenario) bool { return s.Name == "56-late-extend/after-a-longer-one" })
	for fixed, want := range map[bool]string{false: "lease-overlap", true: "safe"} {
		s := *Catalogue()[i]
		s.Lock = s.Lock.With("redlock-plain")
		protocols.Change(&s.Lock, func(own *protocols.RedlockPlainSettings) { own.FixedTTL = fixed })
		r, err := Judge(&s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Findings.String(); got != want {
			t.Errorf("fixed-ttl %v: %s, want %s", fixed, got, want)
		}
	}
}
