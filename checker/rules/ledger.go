package rules

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// ledger is what clients have done with the keys that stand for locks, in the order of sending: what they have asked the nodes
// for and were answered, and what came of it there. It knows nothing of the lock that does it, and serves for any that speaks
// Redis.
type ledger struct {
	*Run
	of    map[vote]*entry
	all   []*entry          // in the order in which they were seen
	last  map[sender]*entry // what was set last
	order int               // of what was seen
	tells []func(*change)
	found []*entry // memory for about
}

// vote is a key with what stands for its owner in its value; see ownerOf.
type vote struct{ key, value string }

// sender is a client that sends commands about a key.
type sender struct {
	client *kernel.Process
	key    string
}

// entry is what was done with a vote.
type entry struct {
	vote
	resource string
	client   *kernel.Process // who set it first; nil if nobody has
	// isCast says that its value was a string when it was set last: a lock that counts has a hash, which commands do not name.
	isCast   bool
	letGo    kernel.True     // when its client did, as the rule about that has it; negative if it has not
	isEarly  bool            // it did before any node had it
	releases *kernel.Process // the client that has sent a command to delete it, after all that set it; nil if none has
	since    kernel.True     // when it sent the first of these
	nodes    []onNode        // in the order of the Servers
}

// onNode is what was done with a vote on a node. Times are negative, and orders 0, for never.
type onNode struct {
	first, sent kernel.True     // when the commands were sent that set it, the first and the last
	set         kernel.True     // when the last was carried out
	setter      *kernel.Process // who sent that
	applied     int             // the order in which it was carried out
	isThere     bool            // and no request has removed or changed it
	isLost      bool            // although the node has lost it since
	removed     kernel.True     // when the last command was sent that did

	expiresAt int64       // as in redis.Record
	until     kernel.True // when that is, by the node's clock as it went when the deadline was set
	lasts     kernel.True // when it was set

	heard            int // the order in which its client read the answer, if it must still have waited
	heardAt          kernel.True
	deletes, deleted int         // the order in which the last command to delete it was sent, and arrived
	deletesAt        kernel.True // when it was sent
	repeats          int         // how many messages to delete it were answered when it was gone, since one set it
	repeatedBy       int         // the last of them
	vagueAt          kernel.True // when something with the value was sent last of which nothing can be told
}

// change is a change that a request has made to a key that stands for a lock.
type change struct {
	*redis.Applied
	resource string
	node     int
	setter   *kernel.Process // who had set what was there before; nil if nobody had
	entry    *entry          // what is there now; nil if nothing is
	isNew    bool            // and has another owner than what was there before
	isFirst  bool            // which no node had before
}

// sets says that the request has set the value, and not only when it ends.
func (c *change) sets() bool {
	return !c.Removed() && (c.Set() || c.After.Value != c.Before.Value)
}

// watch comes after the rules, so that they are told of a change to any key before it is written down.
func (l *ledger) watch() {
	l.onApplied(l.applied)
	l.onCommand(l.asked)
	if l.Declared {
		l.onVague(l.vague)
	}
}

// onChanged has a rule told of a change once it is written down.
func (r *Run) onChanged(tell func(*change)) { r.ledger.tells = append(r.ledger.tells, tell) }

// entry is that of a vote, which begins with this if nothing is known of it.
func (l *ledger) entry(v vote) *entry {
	e := l.of[v]
	if e == nil {
		e = &entry{vote: v, resource: l.resource(v.key), letGo: -1, nodes: make([]onNode, len(l.World.Servers))}
		for i := range e.nodes {
			n := &e.nodes[i]
			n.first, n.sent, n.set, n.removed, n.deletesAt, n.vagueAt = -1, -1, -1, -1, -1, -1
		}
		l.of[v], l.all = e, append(l.all, e)
	}
	return e
}

func (l *ledger) applied(a *redis.Applied) {
	resource, is := l.World.LockOf(a.Key)
	if !is {
		return
	}
	l.order++
	before, after := ownerOf(a.Before.Value), ownerOf(a.After.Value)
	c := change{Applied: a, resource: resource, node: slices.Index(l.World.Servers, a.Server), isNew: !a.Removed() && (a.Set() || after != before)}
	if was := l.of[vote{a.Key, before}]; was != nil && !a.Set() {
		n := &was.nodes[c.node]
		if c.setter = n.setter; a.Removed() || c.isNew {
			n.isThere, n.removed = false, a.Sent
		}
	}
	if !a.Removed() {
		c.entry = l.entry(vote{a.Key, after})
		l.has(&c)
	}
	for _, tell := range l.tells {
		tell(&c)
	}
}

// has writes down what a node has now.
func (l *ledger) has(c *change) {
	e, a, now := c.entry, c.Applied, l.World.Kernel.Now()
	n := &e.nodes[c.node]
	if c.sets() {
		if c.isFirst = e.client == nil; c.isFirst {
			e.client = a.Client
		}
		if a.Sent > e.since {
			e.releases = nil // a value that is used again
		}
		if n.first < 0 {
			n.first = a.Sent
		}
		e.isCast = redis.IsString(a.After.Value)
		n.setter, n.sent, n.set, n.applied, n.heard, n.isLost = a.Client, a.Sent, now, l.order, 0, false
		l.last[sender{a.Client, a.Key}] = e
	}
	n.isThere, n.expiresAt, n.until, n.lasts = true, a.After.ExpiresAt, a.Server.RunsOut(a.After.ExpiresAt), now
}

func (l *ledger) asked(a *redis.Asked) {
	l.order++
	if node := slices.Index(l.World.Servers, a.Server); node >= 0 { // else a replica that was promoted
		for _, e := range l.about(a) {
			l.passes(a, e, &e.nodes[node])
		}
	}
}

// about are the votes that a command is about, good until it is called again. Of a command that names no value it is what its
// client set last.
func (l *ledger) about(a *redis.Asked) []*entry {
	l.found = l.found[:0]
	for _, key := range a.Keys {
		if _, is := l.World.LockOf(key); !is {
			continue
		}
		for _, value := range a.Args {
			l.named(a, key, value)
		}
		if last := l.last[sender{a.Client, key}]; len(a.Args) == 0 && last != nil {
			l.found = append(l.found, last)
		}
	}
	return l.found
}

// named finds a vote by a value that a command names. One that it is to delete may be cast later.
func (l *ledger) named(a *redis.Asked, key, value string) {
	v := vote{key, value}
	e := l.of[v]
	if e == nil && value != "" && a.Intent == redis.Deletes {
		e = l.entry(v)
	}
	if e != nil && (e.client == nil || e.isCast) {
		l.found = append(l.found, e)
	}
}

// passes follows a command about a vote.
func (l *ledger) passes(a *redis.Asked, e *entry, n *onNode) {
	switch {
	case a.Intent == redis.Deletes && a.At == redis.Sent:
		if e.releases == nil {
			e.releases, e.since = a.Client, a.Sent
		}
		n.deletes, n.deletesAt = l.order, a.Sent
	case a.Intent == redis.Deletes && a.At == redis.Arrived:
		n.deleted = l.order
	case a.Intent == redis.Sets && a.At == redis.Sent:
		n.repeats = 0
	case a.At == redis.Answered && a.Together > 1 && a.Answer == driver.Unanswered: // of several, not to this one
	case a.Intent == redis.Deletes && a.At == redis.Answered && n.set >= 0 && !n.isThere && n.repeatedBy != a.Message:
		n.repeats, n.repeatedBy = n.repeats+1, a.Message
	case a.Intent == redis.Sets && a.At == redis.Answered && n.isThere && n.setter == a.Client && n.sent == a.Sent:
		if !a.Latest && l.mustRead(a.Client, a.Deadline) {
			n.heard, n.heardAt = l.order, l.World.Kernel.Now()
		}
	}
}

// vague takes a command of which nothing can be told, which may be a release, and may be sent before the vote is cast.
func (l *ledger) vague(a *redis.Asked) {
	node := slices.Index(l.World.Servers, a.Server)
	for _, key := range a.Keys {
		if _, is := l.World.LockOf(key); !is || node < 0 {
			continue
		}
		for _, value := range a.Args {
			l.entry(vote{key, value}).nodes[node].vagueAt = a.Sent
		}
	}
}
