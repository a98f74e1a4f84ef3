package random

import (
	"context"
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

// errBlind: the known-broken lock was not caught, so an empty result would mean nothing.
var errBlind = errors.New("the search is blind: a lock with a planted bug was not caught")

// canaryTries bounds how many experiments a generation runs on the broken lock.
const canaryTries = 50

// broken is a lock that deletes the key even if it was not granted, which is wrong without any fault.
func broken(base *scenarios.Scenario) *scenarios.Scenario {
	x := *base
	x.Lock = x.Lock.With("redlock-plain")
	protocols.Change(&x.Lock, func(own *protocols.RedlockPlainSettings) { own.Cleanup = protocols.CleanupDel })
	return &x
}

// canary runs experiments on the broken lock, judged like all others, until it is caught.
func (x *explorer) canary(ctx context.Context) error {
	space := x.space
	space.Foreign = nil // which would be run in the place of the broken one
	space.Base = broken(space.Base)
	if x.options.canary != nil {
		space.Base = x.options.canary
	}
	var buffer history.History
	for i := 0; i < canaryTries && ctx.Err() == nil; i++ {
		seed := experiment.Choices(x.options.Seed, "canary", x.Summary.Runs).For("try", i).Below(1 << 53)
		c := experiment.Candidate{Seed: uint64(seed)}
		var t trial
		err := search.Safely(func() (err error) {
			t, err = try(space, c, &buffer)
			return err
		})
		if err != nil {
			if err := x.note(ctx, failureOf(space, c, x.Summary.Runs, err)); err != nil {
				return err
			}
			continue
		}
		if len(counting(x.space, &t)) > 0 {
			x.Summary.Canaries++
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%w in %d runs", errBlind, canaryTries)
}
