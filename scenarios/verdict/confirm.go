package verdict

import (
	"errors"
	"fmt"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
)

// ErrUnconfirmed is what the error of a run matches in which a monitor found a lock unprotected that nobody else could have
// been granted: the monitor is wrong.
var ErrUnconfirmed = errors.New("a lock was found unprotected, and another client that asks for it is refused")

// confirm asks for every lock that was found unprotected whether another client would have been granted it.
func confirm(s *scenarios.Scenario, o scenarios.Options, r checker.Report) error {
	for _, f := range r.Findings {
		if f.Kind != checker.Unprotected {
			continue
		}
		if err := s.Probe(o, f.Resource, kernel.True(f.From)); err != nil {
			return failed(s, o, fmt.Errorf("%w: %s (%w)", ErrUnconfirmed, f.Text, err))
		}
	}
	return nil
}
