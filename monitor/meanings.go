package monitor

import (
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// meaning is an error of package redlock, with the calls that it can be the end of.
type meaning struct {
	err error
	of  []protocols.CallFunc
	// needs is what a lock must have for it, in words, and has whether it does; nil if every lock does.
	needs string
	has   func(protocols.Settings) bool
}

// meanings are those of which callers tell by the error what to do next.
var meanings = []meaning{
	{redlock.ErrTaken, []protocols.CallFunc{protocols.AcquireCall}, "", nil},
	{redlock.ErrNoQuorum, []protocols.CallFunc{protocols.AcquireCall, protocols.ExtendCall, protocols.ReleaseCall}, "", nil},
	{redlock.ErrTooLate, []protocols.CallFunc{protocols.AcquireCall, protocols.ExtendCall}, "", nil},
	{redlock.ErrLost, []protocols.CallFunc{protocols.AcquireCall, protocols.ExtendCall, protocols.ReleaseCall}, "", nil},
	{redlock.ErrReleased, []protocols.CallFunc{protocols.ExtendCall, protocols.ReleaseCall}, "leases that know that they were released", func(s protocols.Settings) bool { return s.Capabilities().Repeats }},
	{redlock.ErrNoToken, []protocols.CallFunc{protocols.AcquireCall}, "a source of tokens", func(s protocols.Settings) bool { return protocols.Of[protocols.OneRedisSettings](s).Sequence }},
	{redlock.ErrTokensUsedUp, []protocols.CallFunc{protocols.AcquireCall}, "fencing counters", func(s protocols.Settings) bool { return protocols.Of[protocols.RedlockSettings](s).Fencing }},
	{redlock.ErrMaxTTL, []protocols.CallFunc{protocols.AcquireCall, protocols.ExtendCall, protocols.PrepareCall}, "a restart guard", hasGuard},
	{redlock.ErrNotPrepared, []protocols.CallFunc{protocols.PrepareCall}, "a restart guard", hasGuard},
	{redlock.ErrClosed, []protocols.CallFunc{protocols.AcquireCall, protocols.ExtendCall, protocols.ReleaseCall, protocols.PrepareCall}, "clients that can be closed", func(s protocols.Settings) bool { return s.Capabilities().Closes }},
}

// watchMeanings judges whether a call can end as its error says at all: callers decide by that what to do, whatever the lock.
func watchMeanings(r *Run) {
	if r.Foreign {
		return
	}
	r.onReturn(func(c *protocols.Call, err error) {
		if err == nil {
			return
		}
		r.Judged[checker.JudgeMeanings]++
		for _, m := range meanings {
			switch {
			case !errors.Is(err, m.err):
			case !slices.Contains(m.of, c.Func):
				r.broken(checker.Contract, r.subjectOf(c), "%s's %s ends with %q, which can be no end of it", c.Client, callNames[c.Func], err)
			case m.has != nil && !m.has(r.Lock):
				r.broken(checker.Contract, r.subjectOf(c), "%s's %s ends with %q, which needs %s", c.Client, callNames[c.Func], err, m.needs)
			}
		}
	})
}
