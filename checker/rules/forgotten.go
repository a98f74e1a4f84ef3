package rules

import (
	"time"

	"redlocksim/checker"
	"redlocksim/sim/kernel"
)

// forgotten looks for keys of acquires that have failed, of which nobody has asked for the removal.
type forgotten struct {
	run    *Run
	stakes *stakes
	failed []leftBy
}

// leftBy is a key that a client had set in an acquire that failed, and had not asked to remove when that returned.
type leftBy struct {
	stake
	at kernel.True
}

// fails notes the keys that an acquire which failed has set, whether or not it has heard that it has.
func (x *forgotten) fails(client, resource string, began kernel.True) {
	now := x.run.World.Kernel.Now()
	for _, s := range x.stakes.votes {
		if s.client.Name() == client && s.resource == resource && s.cast >= began && !x.stakes.isAsked(s) && s.stands(now) {
			x.failed = append(x.failed, leftBy{*s, now})
		}
	}
}

// look looks whether clients whose acquire has failed have asked for the removal of each key that it had set, or have tried to
// reach the node, in the time that a release may take.
func (x *forgotten) look() {
	now, grace := x.run.World.Kernel.Now(), programGrace(x.run)
	for len(x.failed) > 0 && now > x.failed[0].at.Add(grace) {
		left := x.failed[0]
		x.failed = x.failed[1:]
		to := reaching{left.client, left.server}
		tried, has := x.stakes.tried[to]
		set := x.stakes.set[askedOn{left.vote, to}] // which may have been again, over a new connection
		s := x.stakes.stakeOf(left.vote, left.server)
		if s.cast != left.cast || x.stakes.isAsked(s) || has && tried > set || s.until < left.at.Add(grace) {
			continue
		}
		if x.run.pauses.hasRun(left.client, left.at) {
			x.run.broken(checker.Leftover, left.resource,
				"%s was told at %v that it does not have the lock, but had set its key on %s, and has asked nobody to remove it",
				left.client.Name(), time.Duration(left.at).Round(time.Microsecond), left.server.Name())
		}
	}
}

// programGrace is how long somebody's lock may take to release what it has: it may have to connect to each node first, and
// waits as it likes before it tries again.
func programGrace(r *Run) time.Duration {
	return foreignGrace + 2*time.Duration(len(r.World.Servers)+1)*r.Lock.NodeTimeout
}
