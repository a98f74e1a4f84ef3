package rules

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

var repeatedReleasesRule = Rule{
	Name:  "repeated-releases",
	Kind:  checker.Conduct,
	Needs: "a release that a node has confirmed",
	Doc: `
A release is sent to a node again only if it may have been in vain: not while the client waits for the answer, and not once the
node has said that the key is deleted, or is not there. That is no confirmation as long as an acquire has not been answered that
may set the key later. (*redlock*.)`,
	Holds: "of %s that nodes have confirmed none was sent again",
	Each:  "release",
	Idle:  "no node confirmed a release, or nobody looked",
	New:   watchRepeatedReleases,
}

// repeatedReleases watches what becomes of releases, by the answers of the nodes.
type repeatedReleases struct {
	*watch
	of   map[onOneNode]*removal
	ways map[reaching]*underWay
}

// onOneNode is a vote of a client on a node.
type onOneNode struct {
	reaching
	vote
}

// removal is how far a client is with removing a vote from a node.
type removal struct {
	asked, heard int         // how many acquires the client has sent, and of how many it must have read the answer
	sent         kernel.True // the last release
	deadline     time.Time   // of the client for its answer; zero once that has come, or if it may be an earlier one
	isConfirmed  bool
}

// underWay is what a client has under way to a node.
type underWay struct {
	open int         // commands that are not answered, as far as is known
	last kernel.True // when it sent something, or was answered
}

func watchRepeatedReleases(r *watch) {
	if !r.isLibrary() || len(r.World.Replicas) > 0 {
		return // what is sent to another node in the place of one is not sent again
	}
	x := &repeatedReleases{watch: r, of: map[onOneNode]*removal{}, ways: map[reaching]*underWay{}}
	r.onCommand(x.passes)
}

func (x *repeatedReleases) passes(a *redis.Asked) {
	way := reaching{a.Client, a.Server}
	isIdle := x.moves(way, a.At)
	switch a.Intent {
	case redis.Sets:
		x.asks(way, a)
	case redis.Deletes:
		switch a.At {
		case redis.Sent:
			x.sends(way, a, isIdle)
		case redis.Answered:
			x.hears(way, a)
		case redis.Broken:
			x.stopsWaiting(way, a)
		}
	}
}

// moves follows what is under way to a node. It reports whether there was nothing before, so that what is sent now has not
// waited in the client.
func (x *repeatedReleases) moves(by reaching, at redis.Passage) (isIdle bool) {
	t, now := x.ways[by], x.World.Kernel.Now()
	if t == nil {
		t = &underWay{last: -1}
		x.ways[by] = t
	}
	if now.Sub(t.last) > 2*x.Lock.NodeTimeout && x.standstills.ran(by.client, stretch{t.last, now}) {
		t.open = 0 // nothing waits for that any more
	}
	isIdle = t.open == 0 && t.last < now
	switch at {
	case redis.Arrived:
		return isIdle
	case redis.Sent:
		t.open++
	default:
		t.open = max(0, t.open-1)
	}
	t.last = now
	return isIdle
}

// asks takes a part of the way of an acquire.
func (x *repeatedReleases) asks(by reaching, a *redis.Asked) {
	for _, key := range a.Keys {
		if _, is := x.World.LockOf(key); !is {
			continue
		}
		for _, value := range a.Args { // one of them is the vote
			at := onOneNode{by, vote{key, value}}
			r := x.of[at]
			switch {
			case a.At == redis.Sent && r == nil:
				x.of[at] = &removal{asked: 1, sent: -1}
			case a.At == redis.Sent:
				r.asked, r.isConfirmed = r.asked+1, false
			case a.At == redis.Answered && r != nil && a.Answer != driver.Failed && x.isRead(a, a.Deadline):
				r.heard++ // with an error, as of a script that the node does not know, it may be sent again
			}
		}
	}
}

// isRead says whether the library is told of the answer in time for certain. Of a script for several votes it cannot be told.
func (x *repeatedReleases) isRead(a *redis.Asked, deadline time.Time) bool {
	isOwn := len(a.Keys) == 1 && !a.Latest && (a.Together == 1 || a.Settled)
	return isOwn && a.Answer != driver.Unanswered && x.mustRead(a.Client, deadline)
}

// removals are those that a release is about.
func (x *repeatedReleases) removals(by reaching, a *redis.Asked) (all []*removal) {
	for _, e := range x.ledger.about(a) {
		if r := x.of[onOneNode{by, e.vote}]; r != nil {
			all = append(all, r)
		}
	}
	return all
}

func (x *repeatedReleases) sends(by reaching, a *redis.Asked, isIdle bool) {
	all := x.removals(by, a)
	is := func(f func(*removal) bool) bool {
		return len(all) > 0 && !slices.ContainsFunc(all, func(r *removal) bool { return !f(r) })
	}
	switch reads := a.Client.ProgramClock().Now(); {
	case is(func(r *removal) bool { return r.isConfirmed }):
		x.broken(x.about(a.Keys), "%s sends %s a release again that the node has confirmed", a.Client.Name(), a.Server.Name())
	case is(func(r *removal) bool { return r.asked == 1 && reads.Before(r.deadline) }):
		x.broken(x.about(a.Keys), "%s sends %s a release again, %v after the one before, whose answer it still waits for", a.Client.Name(), a.Server.Name(),
			a.Sent.Sub(all[0].sent))
	}
	for _, r := range all {
		if r.sent, r.deadline = a.Sent, a.Deadline; !isIdle || x.StepTime > 0 {
			r.deadline = time.Time{} // it may have waited in the client, which gives it up when its time before that is over
		}
	}
}

// hears takes the answer to a release.
func (x *repeatedReleases) hears(by reaching, a *redis.Asked) {
	for _, r := range x.removals(by, a) {
		if r.sent != a.Sent {
			continue
		}
		isDoubtful := r.heard < r.asked && (r.asked > 1 || a.Answer == driver.Declined)
		if x.isRead(a, r.deadline) && (a.Answer == driver.Accepted || a.Answer == driver.Declined) && !isDoubtful {
			r.isConfirmed = true
			x.judged++
		}
		r.deadline = time.Time{}
	}
}

// stopsWaiting takes a release whose connection is broken.
func (x *repeatedReleases) stopsWaiting(by reaching, a *redis.Asked) {
	for _, r := range x.removals(by, a) {
		r.deadline = time.Time{}
	}
}
