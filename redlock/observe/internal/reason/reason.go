// Package reason gives the errors of package redlock short names, which metrics and spans can carry.
package reason

import (
	"context"
	"errors"

	"redlocksim/redlock"
)

// Other is the name of an error that has none of its own.
const Other = "other"

var names = []struct {
	err  error
	name string
}{
	{redlock.ErrTaken, "taken"},
	{redlock.ErrNoQuorum, "no_quorum"},
	{redlock.ErrTooLate, "too_late"},
	{redlock.ErrNoToken, "no_token"},
	{redlock.ErrLost, "lost"},
	{redlock.ErrReleased, "released"},
	{redlock.ErrTokensUsedUp, "tokens_used_up"},
	{redlock.ErrClosed, "closed"},
	{context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "deadline_exceeded"},
}

// Of names why a call or attempt failed: taken, no_quorum, too_late, no_token, lost, released, tokens_used_up, closed,
// cancelled, deadline_exceeded or other. Where an error has several reasons it is the first of these.
func Of(err error) string {
	for _, n := range names {
		if errors.Is(err, n.err) {
			return n.name
		}
	}
	return Other
}
