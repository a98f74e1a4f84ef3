// Package record makes a history of what the processes of a run have recorded, each by itself.
package record

import (
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/messages"
	"redlocksim/sim/history"
)

// Entry is something that happened in a run, at a reading of CLOCK_MONOTONIC: an event, or something from which the ends of
// believed windows follow.
type Entry struct {
	At      int64
	Process string
	Event   *history.Event
	Belief  *messages.Belief
	Clock   *faketime.Skew // what the client's lock clock reads from then on
}
