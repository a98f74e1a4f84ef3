package scenarios

import "testing"

// Where code takes time, a renewal can begin before the program is told of its lease. That is no call of the program.
func TestARenewalThatBeganBeforeItsLeaseWasKnownIsNotWrittenDown(t *testing.T) {
	l := &held{program: &program{Session: &Session{scenario: &Scenario{}}}}
	r := l.watched(&Step{})
	r.Ends(nil) // has nothing to write to
}
