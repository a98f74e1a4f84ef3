package scenarios

import (
	"testing"

	"redlocksim/scenarios/protocols"
)

// An extend that arrives late sets less time than is left, unless every extend is by the lock's own TTL.
func TestFixedTTL(t *testing.T) {
	named := Named(t, "56-late-extend/after-a-longer-one")
	for fixed, want := range map[bool]string{false: "lease-overlap", true: "safe"} {
		s := *named
		s.Lock = s.Lock.With("redlock-plain")
		protocols.Change(&s.Lock, func(own *protocols.RedlockPlainSettings) { own.FixedTTL = fixed })
		r := Judged(t, &s, Options{})
		if got := r.Findings.String(); got != want {
			t.Errorf("fixed-ttl %v: %s, want %s", fixed, got, want)
		}
	}
}

// Where code takes time, a renewal can begin before the program is told of its lease. That is no call of the program.
func TestARenewalThatBeganBeforeItsLeaseWasKnownIsNotWrittenDown(t *testing.T) {
	l := &held{program: &program{Session: &Session{scenario: &Scenario{}}}}
	r := l.watched(&Step{})
	r.Ends(nil) // has nothing to write to
}
