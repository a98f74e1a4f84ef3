//go:build linux

package testbed

import (
	"testing"
	"time"

	"redlocksim/internal/stall"
)

func TestStalls(t *testing.T) {
	p := stall.Start()
	p.Stop()
	for _, test := range []struct {
		due, free, began, ended time.Duration
		want                    time.Duration
	}{
		{due: 10, free: 5, began: 13, ended: 14, want: 3},
		{due: 10, free: 20, began: 21, ended: 22, want: 1}, // the step before it was in its way
		{due: 10, free: 5, began: 10, ended: 10 + longStep, want: 0},
		{due: 10, free: 5, began: 10, ended: 11 + longStep, want: longStep + 1},
	} {
		p.Reset()
		noteStep(p, int64(test.due), int64(test.free), int64(test.began), int64(test.ended))
		if got := p.Longest(); got != test.want {
			t.Errorf("%+v: held up for %d", test, got)
		}
	}
}
