package verdict

import (
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// A file means what it expects. Somebody's lock may show less, and other late writes than a sound one where both have some.
func TestAmiss(t *testing.T) {
	type kinds = scenarios.Findings
	for _, c := range []struct {
		found, expected, ofFile, ofLock kinds
	}{
		{kinds{checker.LeaseOverlap}, kinds{checker.LeaseOverlap}, nil, nil},
		{nil, kinds{checker.LeaseOverlap}, kinds{checker.LeaseOverlap}, nil},
		{kinds{checker.LeaseOverlap}, nil, kinds{checker.LeaseOverlap}, kinds{checker.LeaseOverlap}},
		{kinds{checker.AcceptedAfterExpiry}, nil, kinds{checker.AcceptedAfterExpiry}, nil},
		{kinds{checker.StaleWrite}, kinds{checker.AcceptedAfterExpiry}, kinds{checker.StaleWrite, checker.AcceptedAfterExpiry}, nil},
		{kinds{checker.LeaseOverlap}, kinds{checker.AcceptedAfterExpiry}, kinds{checker.LeaseOverlap, checker.AcceptedAfterExpiry}, kinds{checker.LeaseOverlap}},
		{kinds{checker.LeaseOverlap, checker.StaleWrite}, kinds{checker.Unprotected}, kinds{checker.LeaseOverlap, checker.StaleWrite, checker.Unprotected}, nil},
		{kinds{checker.Leftover}, kinds{checker.Unprotected}, kinds{checker.Leftover, checker.Unprotected}, kinds{checker.Leftover}},
		{kinds{checker.Contract}, nil, kinds{checker.Contract}, kinds{checker.Contract}},
	} {
		ofFile, ofLock := &Result{}, &Result{foreign: &scenarios.Foreign{}}
		if got := ofFile.amiss(c.found, c.expected); !slices.Equal(got, c.ofFile) {
			t.Errorf("found %v, expected %v: %v amiss, want %v", c.found, c.expected, got, c.ofFile)
		}
		if got := ofLock.amiss(c.found, c.expected); !slices.Equal(got, c.ofLock) {
			t.Errorf("found %v, a sound lock shows %v: %v amiss, want %v", c.found, c.expected, got, c.ofLock)
		}
	}
}
