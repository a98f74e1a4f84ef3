package redlock

import (
	"time"

	"redlocksim/redlock/driver"
)

// pace says when the callers of a queue may ask the nodes next. Only the caller whose turn it is uses it.
type pace struct {
	until    time.Time // nobody asks before; zero: nothing holds the next back
	polls    bool      // it is until the next attempt after one that failed, and ends early with news of a release
	cutShort bool      // the last attempt ended with its caller, before the nodes had decided it
	inVain   time.Time // since when the nodes have refused this client; zero after a grant
	inARow   int       // grants since other processes had a chance to get the lock
	chance   time.Time // when they last had one
}

// localGrants is how many grants in a row go to callers that wait in this client, before other processes get their turn.
const localGrants = 16

// recentRefusal is for how long other processes count as wanting a lock that a node has refused to this client.
const recentRefusal = 10 * time.Second

// holdUp lets nobody ask before d has passed. A delay that polls ends early with news of a release.
func (p *pace) holdUp(now time.Time, d time.Duration, polls bool) {
	p.until, p.polls = now.Add(d), polls
}

// granted counts a grant to this client.
func (p *pace) granted(now time.Time) {
	if p.inARow == 0 {
		p.chance = now
	}
	p.inARow++
	p.cutShort, p.inVain = false, time.Time{}
}

// refused notes that an attempt has failed. It reports whether the next caller has to wait as after a failed attempt of its
// own: an attempt that was cut short lets it ask at once, but not a second one in a row.
func (p *pace) refused(failed *failure, now time.Time) (waits bool) {
	if p.inVain.IsZero() {
		p.inVain = now
	}
	isCutShort := failed.err.Cause != nil
	waits = isCutShort && p.cutShort
	p.cutShort = isCutShort && !waits
	if failed.err.Reason == ErrTaken {
		p.inARow, p.chance = 0, now // another process has its turn
	}
	return waits
}

// owesPause says whether it is time to let other processes have their turn. Where none has been seen to want the lock, a pause
// comes so seldom that it hardly costs anything, for those that wait without a chance to show it.
func (p *pace) owesPause(now time.Time, isContended bool, pause time.Duration) bool {
	return p.inARow >= localGrants && (isContended || now.Sub(p.chance) >= 8*pause)
}

// hasSeenOthers says whether a node has said that another client has the lock, or a part of its votes.
func (f *failure) hasSeenOthers() bool {
	for _, n := range f.err.Nodes {
		if n.Outcome == driver.Declined {
			return true
		}
	}
	return false
}
