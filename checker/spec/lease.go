package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// lease is what a grant gives: it lasts until a time that extends move later, and ends when it is released or lost.
type lease struct {
	name      string
	lead      time.Duration // how long before its end the loss of the lease is told at the most
	open      int           // extends that have begun and not ended
	extends   int           // that have begun
	extending extension
	wasLost   bool
	releases  round
	joined    map[string]int
	takenBack map[string]int
}

// extension is the round of an extend. While several are under way nobody can tell which a step belongs to, and none is judged.
type extension struct {
	round
	began, second time.Time
	ttls          []time.Duration
	until         time.Time
	left          time.Duration
	isReached     bool
	why           error // it failed; nil if it has not, or somebody ended the lease
	isTaken       bool  // so many nodes said no that another client may hold the lock
	mixed         bool
}

func (x *extension) note(e *Event, s *Settings, open int) string {
	if x.mixed || e.Late {
		return "" // a late one may be an earlier extend's
	}
	if open == 0 {
		return "a node answers in time, and no extend is under way"
	}
	return x.round.note(e, s.NodeTimeout, s)
}

func (x *extension) reached(e *Event, s *Settings) string {
	if x.mixed {
		return ""
	}
	x.isReached, x.second = true, e.At
	return x.round.reached(e, s)
}

func (x *extension) lost(e *Event, s *Settings, isReleasing bool) string {
	if x.mixed {
		return ""
	}
	x.isTaken, x.why = x.declined() > len(s.Nodes)-s.Quorum, e.Err
	if isReleasing && e.Err == redlock.ErrNoQuorum && e.Accepted == x.accepted && e.Quorum == s.Quorum {
		return "" // what was not sent before the release is never sent
	}
	return x.round.lost(e, s, false, nil, nil)
}

func (x *extension) computed(e *Event, s *Settings) string {
	if x.mixed {
		return ""
	}
	x.until, x.left = e.Until, e.Validity
	if x.left <= 0 {
		x.why = redlock.ErrTooLate
	}
	return validity(e, x.began, x.second, x.ttls, s)
}

// extend begins an extend.
func (a *acquisition) extend(e *Event) string {
	a.extends++
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

func (a *acquisition) extended(e *Event, s *Settings) string {
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
	case !e.Until.Add(-e.Validity).Equal(x.until.Add(-x.left)):
		return fmt.Sprintf("%v are left until the lease ends in %v", e.Validity, e.Until.Sub(x.until.Add(-x.left)))
	case !e.Until.Equal(a.until) && !e.Until.Equal(x.until), e.Until.Before(x.until):
		return fmt.Sprintf("the lease ends %v from what was computed", e.Until.Sub(x.until))
	case e.Until.After(a.until):
		a.lead = longestLead(s, x.ttls, x.left)
	}
	a.until = e.Until
	return ""
}

func (a *acquisition) notExtended(e *Event, s *Settings) string {
	a.open--
	x := &a.extending
	told, why := s.errorOf(e, 0)
	if why == "" && !x.mixed {
		why = x.of(told, s)
	}
	switch {
	case why != "" || x.mixed:
		return why
	case told.Reason == redlock.ErrReleased && (a.state == releasing || a.state == released), told.Reason == redlock.ErrLost && a.state != held:
		return ""
	case x.why == nil:
		return fmt.Sprintf("no quorum was given up, and it says %q", e.Err)
	}
	return says(told, x.why)
}

// lose is the loss of a lease: told when its time is nearly over, or when so many nodes have said no that another client may
// hold the lock.
func (a *acquisition) lose(e *Event) string {
	a.state, a.wasLost = lost, true
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
func longestLead(s *Settings, ttls []time.Duration, left time.Duration) time.Duration {
	if s.LossLead != 0 {
		return min(s.LossLead, left/2)
	}
	longest := time.Second
	if ttls != nil {
		longest = min(max(slices.Max(ttls)/20, time.Millisecond), longest)
	}
	return min(longest, left/2)
}

// gone is the end of a release.
func (a *acquisition) gone(e *Event, s *Settings) string {
	a.state = released
	r := &a.releases
	switch enough := r.accepted >= s.Quorum; {
	case e.Quorum != s.Quorum:
		return fmt.Sprintf("a quorum of %d, where %d are configured", e.Quorum, s.Quorum)
	case e.Accepted != r.accepted:
		return fmt.Sprintf("%d nodes are counted, and %d have deleted the key", e.Accepted, r.accepted)
	case e.Err == nil && !enough:
		return fmt.Sprintf("%d of %d nodes have deleted the key, and a quorum is %d", r.accepted, len(s.Nodes), s.Quorum)
	case e.Err == nil && a.wasLost:
		return "it does not say that the lease was lost before"
	case e.Err == nil:
		return ""
	case enough && !a.wasLost:
		return fmt.Sprintf("a quorum has deleted the key, and it says %q", e.Err)
	}
	told, why := s.errorOf(e, 0)
	if why == "" {
		why = r.of(told, s)
	}
	switch {
	case why != "":
		return why
	case a.wasLost && told.Reason != redlock.ErrLost:
		return fmt.Sprintf("the lease was lost before, and it says %q", told)
	case a.wasLost, isCallers(told.Cause):
		return ""
	}
	said := a.saidNo()
	if why = r.refusal(e.Op, told.Reason, false, nil, said, s); why != "" {
		return r.refusal(e.Op, told.Reason, false, nil, append(said, a.mayHaveNoKey(s)...), s)
	}
	return why
}

// mayHaveNoKey are the nodes of which it cannot be told whether they have a key to release. One that has not answered the
// acquire, or not about its last token, may never have been asked: what waits in the client when the release begins is not
// sent.
func (a *acquisition) mayHaveNoKey(s *Settings) (nodes []string) {
	for _, node := range s.Nodes {
		_, timely := a.votes.timely.of(node)
		_, late := a.votes.late.of(node)
		hasAnswered := slices.ContainsFunc(a.answers, func(x answers) bool { return x.question == question{driver.OpAcquire, node} })
		if !timely && !late && (a.settled[node] || !hasAnswered) || slices.Contains(a.ambiguous, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// saysNo says whether a node that answers an acquire with this has no key to release.
func saysNo(o driver.Outcome) bool {
	return o == driver.Declined || o == driver.Behind || o == driver.Quarantined
}

// saidNo are the nodes that have answered the acquire with no: they have no key to release.
func (a *acquisition) saidNo() (nodes []string) {
	for _, all := range []nodeOutcomes{a.votes.timely, a.votes.late} {
		for i := range all {
			if saysNo(all[i].Outcome) {
				nodes = append(nodes, all[i].Node)
			}
		}
	}
	return nodes
}

// hasAllJoined looks, when a lease is extended, lost or released, whether all late votes for it are told to have joined it. If
// two tokens were proposed, only a node that had answered the first before can be told to vote for the second.
func (a *acquisition) hasAllJoined(e *Event) string {
	if a.state != held && a.state != lost || e.Step != observe.ExtendStarted && e.Step != observe.Lost && e.Step != observe.ReleaseStarted {
		return ""
	}
	missing := "" // the first by its name
	for i := range a.votes.late {
		if vote := &a.votes.late[i]; vote.Outcome == driver.Accepted && a.joined[vote.Node] == 0 && (missing == "" || vote.Node < missing) {
			missing = vote.Node
		}
	}
	if missing == "" {
		return ""
	}
	return fmt.Sprintf("the late vote of %s has not joined the lease", missing)
}

// join is a vote that came after the decision, and counts for the lease.
func (a *acquisition) join(e *Event) string {
	if e.Node.Outcome != driver.Accepted {
		return fmt.Sprintf("%s is %v, and joins", e.Node.Node, e.Node.Outcome)
	}
	return a.follows(e, &a.joined, "joins")
}

// takeBack is a vote that came after the release began, and is released again.
func (a *acquisition) takeBack(e *Event) string {
	return a.follows(e, &a.takenBack, "is taken back")
}

// isOnNode says whether a node has set the key: by a vote, or by what would be one if enough replicas had confirmed it.
func isOnNode(told observe.NodeOutcome) bool {
	return told.Outcome == driver.Accepted || told.Outcome == driver.Failed && errors.As(told.Err, new(*driver.ReplicasError))
}

// follows checks what becomes of a late vote: once, and only if there was one. What was told of that is told again, unless it
// is the answer to a release that has not deleted the key.
func (a *acquisition) follows(e *Event, done *map[string]int, what string) string {
	vote := e.Node
	told, _ := a.votes.late.of(vote.Node)
	if *done == nil {
		*done = map[string]int{}
	}
	(*done)[vote.Node]++
	switch {
	case a.raised: // there may have been two votes
		return ""
	case (*done)[vote.Node] > 1:
		return fmt.Sprintf("the vote of %s %s a second time", vote.Node, what)
	case !isOnNode(told):
		return fmt.Sprintf("no late vote of %s is there that %s", vote.Node, what)
	case vote.Outcome == driver.Accepted && !isSame(vote, told):
		return fmt.Sprintf("the vote of %s that %s took %v, and is told to have taken %v", vote.Node, what, vote.Took, told.Took)
	}
	return ""
}
