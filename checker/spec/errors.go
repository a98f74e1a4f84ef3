package spec

import (
	"errors"
	"fmt"

	"redlocksim/redlock"
)

// errorOf is the error that a step tells of an operation. It is about that, and about the acquisition.
func (s *Settings) errorOf(e *Event, attempts int) (told *redlock.Error, why string) {
	if !errors.As(e.Err, &told) {
		return nil, fmt.Sprintf("its error is a %T", e.Err)
	}
	switch {
	case told.Op != e.Op:
		return nil, fmt.Sprintf("its error is about operation %s", told.Op)
	case told.Resource != e.Resource:
		return nil, fmt.Sprintf("its error is about %q", told.Resource)
	case told.Attempts != attempts:
		return nil, fmt.Sprintf("its error tells of %d attempts, and %d were made", told.Attempts, attempts)
	case told.Reason == nil && told.Cause == nil:
		return nil, "its error has neither a reason nor a cause"
	case (told.NodeTimeout != 0) != (told.Nodes != nil), told.NodeTimeout != 0 && told.NodeTimeout != s.NodeTimeout:
		return nil, fmt.Sprintf("its error tells of a node timeout of %v", told.NodeTimeout)
	}
	return told, ""
}

// of compares what an error tells of the nodes with what they have answered in time.
func (r *round) of(told *redlock.Error, s *Settings) (why string) {
	left := told.Nodes
	for _, name := range s.Nodes {
		answered, has := r.timely.of(name)
		switch {
		case len(left) > 0 && left[0].Node == name:
			if answered.Node = name; !isSame(left[0], answered) {
				return fmt.Sprintf("its error tells of %s that it is %v after %v, and it is %v after %v", name, left[0].Outcome, left[0].Took,
					answered.Outcome, answered.Took)
			}
			left = left[1:]
		case has: // a node that was not asked is left out
			return fmt.Sprintf("its error does not tell of %s, which is %v", name, answered.Outcome)
		}
	}
	if len(left) > 0 {
		return fmt.Sprintf("its error tells of %q, not in the order of the nodes", left[0].Node)
	}
	return ""
}

// says compares why an error says that there is no quorum with what has become of the round.
func says(told *redlock.Error, lost error) (why string) {
	reason, cause := lost, error(nil)
	if isCallers(lost) || errors.Is(lost, redlock.ErrTokensUsedUp) {
		reason, cause = nil, lost
	}
	if told.Reason != reason || told.Cause != cause {
		return fmt.Sprintf("its error says %q, and the round ended with %q", told, lost)
	}
	return ""
}
