package rules

import (
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

var protectedRule = Rule{
	Name:  "protected",
	Kind:  checker.Unprotected,
	Needs: "the nodes' keys, while a client believes in its lock",
	Doc: `
While a client believes in its lock, no quorum of nodes would grant it to another: from the return of its acquire until it
calls release, crashes, is told of the loss, or reads the last acknowledged expiry. A node would grant it if it runs, has no
key of the lock with any value and no fencing counter that votes have not raised, and is fit under the restart guard. The
finding counts once it is confirmed: the run is repeated up to that moment, and another client, whose messages take no time,
tries. If that is refused, the rule is wrong, and the run ends with an internal error. A quorum has mostly lost the first
client's keys before two clients hold a lock, so this counts only where it stands alone. (Locks on Redis, unless replicas
confirm votes or one takes the place of a node.)`,
	Holds: "a client held the lock %s, and the nodes would never have granted it to another meanwhile",
	Each:  "time",
	Idle:  "nobody was granted the lock, or nobody looked at the nodes",
	New:   watchProtected,
}

// protected looks for a client that believes in its lock while a quorum of nodes would grant it to another. That nobody
// asks them is luck.
//
// A node would grant the lock if it is up, nobody's value stands at the key, and the restart guard, where there is one, lets it
// vote. When a quorum would is known in advance, as long as nothing changes a key, a clock or a node: so a belief is looked at
// only where something does, and at its end. An end comes before keys that run out at the same instant.
type protected struct {
	*watch
	servers []*redis.Server // which decide who has the lock
	quorum  int
	guarded bool
	fit     []bool        // by node: it is up, and may vote
	beliefs []*belief     // that have not ended
	times   []kernel.True // memory for free
}

// belief is the time for which a client believes in its lock on one resource.
type belief struct {
	checker.Window
	call  int // the first operation of the call that it was granted by
	key   string
	value string // that most nodes had at the key when it was granted
	nodes []copied
	// free is when a quorum of nodes will be free, unless something happens first.
	free kernel.True

	// since is from when on the lock was found unprotected, until is when nodes had keys again; negative is never. nodesSince
	// says which nodes these were.
	since, until kernel.True
	nodesSince   string
}

// copied is what is known of the key on a node.
type copied struct {
	there bool
	own   bool        // it has the value of the grant
	ends  kernel.True // when it runs out
	gone  string      // what became of it when it last had the value of the grant
}

func watchProtected(r *watch) {
	// The lock of a caller may have keys of other names, and after a failover a replica votes in the place of a node.
	// Where replicas confirm votes, another client cannot be granted the lock in no time.
	if r.Foreign || r.FailsOver || protocols.Of[protocols.RedlockSettings](r.Lock).Replicas > 0 || r.Lock.Capabilities().Service != "" {
		return
	}
	u := &protected{watch: r, servers: r.World.Servers, guarded: isGuarded(r.Run)}
	quorum, votes := r.Lock.Votes(len(r.World.Servers))
	if u.quorum = quorum; !votes { // it is on the first node alone
		u.servers, u.quorum = u.servers[:1], 1
	}
	u.fit, u.times = make([]bool, len(u.servers)), make([]kernel.True, len(u.servers))
	for i := range u.fit {
		u.fit[i] = u.mayVote(i, "")
	}
	r.onEvent(u.saw)
	r.onApplied(u.applied)
	r.onEnd = append(r.onEnd, u.over)
}

// mayVote says whether a node is sound, and runs. resumed is the node that goes on at this moment, after a pause.
func (p *protected) mayVote(node int, resumed string) bool {
	s := p.servers[node]
	return p.isSound(s, p.guarded) && (!s.Paused() || s.Name() == resumed)
}

func (p *protected) saw(e *history.Event) {
	switch e.Kind {
	case history.Return:
		if e.Func == history.Acquire && e.Outcome == history.OK && !p.leases.over[e.Op] {
			p.begins(e)
		}
	case history.Call:
		if e.Func == history.Release {
			p.end(e, func(b *belief) bool { return b.Grant == e.Grant })
		}
	case history.Expire:
		p.end(e, func(b *belief) bool { return b.Grant == e.Grant })
	case history.Step:
		if e.Name == lost || e.Name == releaseStarted {
			p.end(e, func(b *belief) bool { return b.call == e.Grant })
		}
	case history.Crash:
		p.end(e, func(b *belief) bool { return b.Process == e.Process })
	case history.Fault:
		if e.Node != "" {
			p.happened(e)
		}
	}
}

// The steps at which the library tells that it has given a lease up.
var lost, releaseStarted = observe.Lost.String(), observe.ReleaseStarted.String()

// begins looks at a lock that was just granted.
func (p *protected) begins(e *history.Event) {
	p.judged++
	b := &belief{Window: checker.Window{Process: e.Process, Grant: e.Op, FromSeq: e.Seq, From: checker.Instant(e.Time)}, call: e.Op, key: e.Resource,
		nodes: make([]copied, len(p.fit)), since: -1, until: -1}
	if e.With != 0 {
		b.call = e.With
	}
	count := map[string]int{}
	for i, s := range p.servers {
		b.nodes[i].gone = "was never set"
		if record, _, there := s.Memory().Peek(b.key); there {
			owner := ownerOf(record.Value)
			if count[owner]++; count[owner] > count[b.value] {
				b.value = owner
			}
		}
	}
	p.beliefs = append(p.beliefs, b)
	p.keep(b, "")
}

// happened looks at what a fault of a node changes: its memory, its clock, and whether it answers.
func (p *protected) happened(e *history.Event) {
	p.check()
	resumed := ""
	if e.Name == "resume" { // which is recorded before the node goes on
		resumed = e.Node
	}
	for i, s := range p.servers {
		if s.Name() == e.Node {
			p.fit[i] = p.mayVote(i, resumed)
		}
	}
	for _, b := range p.beliefs {
		p.keep(b, "was forgotten")
	}
}

func (p *protected) applied(a *redis.Applied) {
	if a.Key == driver.GuardKey || p.raised.isCounter(a.Key) {
		i := slices.Index(p.servers, a.Server)
		if i < 0 {
			return // it has no say
		}
		fit := p.mayVote(i, "")
		if fit == p.fit[i] {
			return
		}
		p.check()
		p.fit[i] = fit
		for _, b := range p.beliefs {
			p.keep(b, "")
		}
		return
	}
	for _, b := range p.beliefs {
		if b.key != a.Key {
			continue
		}
		p.look(b)
		gone := ""
		if a.Removed() {
			gone = "was deleted by " + a.Client.Name()
		}
		p.keep(b, gone)
	}
}

func (p *protected) over() {
	for _, b := range p.beliefs {
		b.To = checker.Instant(p.World.Kernel.Now())
		p.look(b)
		p.tell(b)
	}
}

// end ends beliefs.
func (p *protected) end(e *history.Event, is func(*belief) bool) {
	p.beliefs = slices.DeleteFunc(p.beliefs, func(b *belief) bool {
		if !is(b) {
			return false
		}
		b.ToSeq, b.To = e.Seq, checker.Instant(e.Time)
		p.look(b)
		p.tell(b)
		return true
	})
}

// check looks at all beliefs, before something changes.
func (p *protected) check() {
	for _, b := range p.beliefs {
		p.look(b)
	}
}

// look says whether a belief was unprotected before this moment.
func (p *protected) look(b *belief) {
	if b.since < 0 && b.free < p.World.Kernel.Now() {
		b.since, b.nodesSince = b.free, p.nodes(b)
	}
}

// keep looks at what the nodes have now, and finds out until when that protects the lock. gone is what became of keys that are
// not there any more, unless they ran out.
func (p *protected) keep(b *belief, gone string) {
	now := p.World.Kernel.Now()
	for i, s := range p.servers {
		k := &b.nodes[i]
		record, ends, there := s.Memory().Peek(b.key)
		own := there && ownerOf(record.Value) == b.value
		switch {
		case own || !k.own:
		case k.ends <= now:
			k.gone = ranOut
		default:
			k.gone = gone
		}
		k.there, k.own, k.ends = there, own, ends
		p.times[i] = kernel.Forever
		if p.fit[i] {
			p.times[i] = k.ends // zero if it is not there
		}
	}
	slices.Sort(p.times)
	b.free = max(p.times[p.quorum-1], now)
	if b.since >= 0 && b.until < 0 && b.free > now {
		b.until = now
	}
}

const ranOut = "ran out"

// nodes says which nodes are free, and what became of the key on each.
func (p *protected) nodes(b *belief) string {
	var names, reasons []string
	by := map[string][]string{}
	for i, s := range p.servers {
		k := &b.nodes[i]
		if !p.fit[i] || k.there && k.ends > b.free {
			continue
		}
		gone := k.gone
		if k.own {
			gone = ranOut
		}
		if by[gone] == nil {
			reasons = append(reasons, gone)
		}
		names = append(names, s.Name())
		by[gone] = append(by[gone], s.Name())
	}
	for i, gone := range reasons {
		reasons[i] = fmt.Sprintf("%s on %s", gone, and(by[gone]))
	}
	return fmt.Sprintf("%s of %d nodes would grant it to another: its key %s", and(names), len(p.fit), and(reasons))
}

// tell reports a belief that has ended, if it was found unprotected.
func (p *protected) tell(b *belief) {
	if b.since < 0 {
		return
	}
	f := checker.Finding{Kind: checker.Unprotected, Resource: b.key, Windows: []checker.Window{b.Window},
		FromSeq: p.seqAt(b.since), From: checker.Instant(b.since), ToSeq: b.ToSeq, To: b.To}
	if b.until >= 0 {
		f.ToSeq, f.To = p.seqAt(b.until), checker.Instant(b.until)
	}
	f.Seqs = []int{b.FromSeq}
	if b.ToSeq > 0 {
		f.Seqs = append(f.Seqs, b.ToSeq)
	}
	f.Text = fmt.Sprintf("%s (grant %d) believes in its lock on %q until %v, but from %v on %s.",
		b.Process, b.Grant, b.key, b.To, f.From, b.nodesSince)
	p.found(f)
}
