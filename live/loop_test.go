//go:build linux

package live

import (
	"testing"
	"time"

	"redlocksim/internal/stall"
)

// What holds a step up is what comes between its time, or the end of the step before it, and its beginning; and itself, if it
// takes longer than any step does.
func TestStalls(t *testing.T) {
	for _, test := range []struct{ due, free, began, ended, want time.Duration }{
		{due: 10, free: 5, began: 13, ended: 14, want: 3},
		{due: 10, free: 20, began: 21, ended: 22, want: 1},
		{due: 10, free: 5, began: 10, ended: 10 + longStep, want: 0},
		{due: 10, free: 5, began: 10, ended: 11 + longStep, want: longStep + 1},
	} {
		l := loop{stalls: new(stall.Meter)}
		l.noteStep(int64(test.due), int64(test.free), int64(test.began), int64(test.ended))
		if got := l.stalls.Longest(); got != test.want {
			t.Errorf("%+v: held up for %d", test, got)
		}
	}
}
