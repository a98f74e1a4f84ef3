package monitor

import (
	"errors"
	"fmt"
	"testing"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

func TestErrorsMeanWhatTheyCan(t *testing.T) {
	for _, c := range []struct {
		name string
		lock protocols.Name
		call protocols.CallFunc
		err  error
		want string
	}{
		{"taken", "single", protocols.AcquireCall, redlock.ErrTaken, ""},
		{"an extend that is taken", "single", protocols.ExtendCall, redlock.ErrTaken, `c1's extend ends with "held by another", which can be no end of it`},
		{"a release that is late", "consensus", protocols.ReleaseCall, fmt.Errorf("%w, %w", errors.New("x"), redlock.ErrTooLate),
			`c1's release ends with "x, quorum came too late, no validity left", which can be no end of it`},
		{"no guard", "redlock", protocols.AcquireCall, redlock.ErrMaxTTL,
			`c1's acquire ends with "redlock: a node's restart guard has another MaxTTL", which needs a restart guard`},
		{"no tokens", "db-row", protocols.AcquireCall, redlock.ErrNoToken, `c1's acquire ends with "no fencing token", which needs a source of tokens`},
		{"released, in a lock that knows", "redlock", protocols.ExtendCall, redlock.ErrReleased, ""},
		{"released, in one that does not", "redisson", protocols.ExtendCall, redlock.ErrReleased,
			`c1's extend ends with "lease released", which needs leases that know that they were released`},
		{"another error", "single", protocols.ReleaseCall, errors.New("broken"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rigOf(t, c.lock, watchMeanings)
			r.goes("c1", 0, func(a *actor) { a.call(c.call, nil, c.err, nil) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// rigOf is a rig of a lock with the defaults of its protocol, that a single monitor watches.
func rigOf(t *testing.T, lock protocols.Name, watch func(*Run)) *rig {
	return newRig(t).only(watch, func(r *Run) { r.Lock = r.Lock.With(lock) })
}
