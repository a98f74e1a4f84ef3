package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// lease is what a grant gives: it lasts until a time that extends move later, and ends when it is released or lost.
type lease struct {
	name      string
	lead      time.Duration // how long before its end the loss of the lease is told at the most
	open      int           // extends that have begun and not ended
	extending extension
	releases  answersToRelease
	joined    map[string]bool
	takenBack map[string]bool
}

// extension is the round of an extend. While several are under way nobody can tell which a step belongs to, and none is judged.
type extension struct {
	round
	began, second time.Time
	ttls          []time.Duration
	until         time.Time
	left          time.Duration
	isReached     bool
	isTaken       bool // so many nodes said no that another client may hold the lock
	mixed         bool
}

func (x *extension) note(e *Event, s Settings, open int) string {
	if x.mixed || e.Late {
		return "" // a late one may be an earlier extend's
	}
	if open == 0 {
		return "a node answers an extend that nobody asked for"
	}
	return x.round.note(e, s.Nodes, s.NodeTimeout)
}

func (x *extension) reached(e *Event, s Settings, open int) string {
	switch {
	case open == 0:
		return "no extend is under way"
	case x.mixed:
		return ""
	}
	x.isReached, x.second = true, e.At
	return x.round.reached(e, s)
}

func (x *extension) lost(e *Event, s Settings, open int) string {
	switch {
	case open == 0:
		return "no extend is under way"
	case x.mixed:
		return ""
	}
	x.isTaken = x.declined() > s.Nodes-s.Quorum
	return x.round.lost(e, s, false)
}

func (x *extension) computed(e *Event, s Settings, open int) string {
	switch {
	case open == 0:
		return "no extend is under way"
	case x.mixed:
		return ""
	}
	x.until, x.left = e.Until, e.Validity
	return validity(e, x.began, x.second, x.ttls, s)
}

// extend begins an extend.
func (a *acquisition) extend(e *Event) string {
	if a.open++; a.open > 1 {
		a.extending.mixed = true
	} else {
		a.extending = extension{began: e.At}
	}
	if e.At.After(a.until) {
		return fmt.Sprintf("the lease ended %v ago", e.At.Sub(a.until))
	}
	return ""
}

func (a *acquisition) extended(e *Event, s Settings) string {
	if a.open == 0 {
		return "no extend is under way"
	}
	a.open--
	x := &a.extending
	switch {
	case e.Until.Before(a.until):
		return fmt.Sprintf("the lease is %v shorter than before", a.until.Sub(e.Until))
	case x.mixed:
		a.lead = longestLead(s, nil, math.MaxInt64)
	case !x.isReached:
		return "without a quorum"
	case x.left <= 0:
		return "no validity was left"
	case e.Until.After(a.until) && e.Until != x.until:
		return fmt.Sprintf("the lease ends %v from what was computed", e.Until.Sub(x.until))
	case e.Until.After(a.until):
		a.lead = longestLead(s, x.ttls, x.left)
	}
	a.until = e.Until
	return ""
}

func (a *acquisition) notExtended(e *Event) string {
	if a.open == 0 {
		return "no extend is under way"
	}
	a.open--
	x := &a.extending
	if !x.mixed && a.state == held && x.isReached && x.left > 0 && !isCallers(e.Err) && e.At.Before(a.until) {
		return fmt.Sprintf("a quorum was extended, and it says %q", e.Err)
	}
	return ""
}

// lose is the loss of a lease: told when its time is nearly over, or when so many nodes have said no that another client may
// hold the lock.
func (a *acquisition) lose(e *Event) string {
	a.state = lost
	switch {
	case !e.Until.Equal(a.until):
		return fmt.Sprintf("the lease ends %v from what was promised", e.Until.Sub(a.until))
	case a.extending.isTaken || a.extending.mixed:
		return ""
	}
	if early := a.until.Sub(e.At); early > a.lead {
		return fmt.Sprintf("%v before the end of the lease", early)
	}
	return ""
}

// longestLead is how long before its end the loss of a lease is told at the most: as long as is set, or a twentieth of the TTL
// that it was granted or extended with, from a millisecond to a second; and never more than half of what it had left then.
// Without TTLs any is possible.
func longestLead(s Settings, ttls []time.Duration, left time.Duration) time.Duration {
	if s.LossLead != 0 {
		return min(s.LossLead, left/2)
	}
	longest := time.Second
	if ttls != nil {
		longest = min(max(slices.Max(ttls)/20, time.Millisecond), longest)
	}
	return min(longest, left/2)
}

// answersToRelease counts what nodes answer to the release of a lease.
type answersToRelease struct{ accepted int }

func (r *answersToRelease) note(e *Event, s state) string {
	switch s {
	case denied, releasing, released:
	default:
		return "a node answers a release that nobody asked for"
	}
	if !e.Late && e.Node.Outcome == driver.Accepted {
		r.accepted++
	}
	return ""
}

// letGo is the end of a release.
func (a *acquisition) letGo(e *Event, s Settings) string {
	a.state = released
	switch {
	case e.Quorum != s.Quorum:
		return fmt.Sprintf("a quorum of %d, where %d are configured", e.Quorum, s.Quorum)
	case e.Err == nil && a.releases.accepted < s.Quorum:
		return fmt.Sprintf("%d of %d nodes have deleted the key, and a quorum is %d", a.releases.accepted, s.Nodes, s.Quorum)
	case e.Err != nil && errors.Is(e.Err, redlock.ErrReleased):
		return "it was released before"
	}
	return ""
}

// join is a vote that came after the decision, and counts for the lease.
func (a *acquisition) join(e *Event) string {
	return a.follows(e, &a.joined, "joins")
}

// takeBack is a vote that came after the release began, and is released again.
func (a *acquisition) takeBack(e *Event) string {
	return a.follows(e, &a.takenBack, "is taken back")
}

// follows checks what becomes of a late vote: once, and only if there was one.
func (a *acquisition) follows(e *Event, done *map[string]bool, what string) string {
	node := e.Node.Node
	switch {
	case (*done)[node] && !a.raised:
		return fmt.Sprintf("the vote of %s %s a second time", node, what)
	case e.Op == driver.OpAcquire && !a.raised && a.votes.late[node] != driver.Accepted:
		return fmt.Sprintf("no late vote of %s is there that %s", node, what)
	}
	if *done == nil {
		*done = map[string]bool{}
	}
	(*done)[node] = true
	return ""
}
