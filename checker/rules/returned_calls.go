package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

var returnedCallsRule = Rule{
	Name:  "returned-calls",
	Kind:  checker.Contract,
	Needs: "what a call about a lease returned, and what the nodes hold",
	Doc: `
A lease lasts no longer than its votes: when an acquire or extend returns, a quorum of nodes has been asked to keep every key
for at least as long, in true time. Keys count as they were when their deadlines were set, even if the node has restarted
since, which a quorum larger than the majority allows for. A successful extend makes the lease last for the TTL from the call
on, less the drift allowance, and never moves its end back. When a release succeeds, a quorum has deleted every key. A lease
names what was asked for, and no two have the same value. (Leases that nodes vote for, unless a
replica takes the place of one.)`,
	Holds: "what %s about leases returned is what the nodes bear out",
	Each:  "call",
	Idle:  "no call returned anything about a lease that rests on votes",
	New:   watchReturnedCalls,
}

// returnedCalls compares what calls return with what the nodes hold. It judges leases that are protocols.Voted.
type returnedCalls struct {
	*watch
	until  map[protocols.Lease]time.Time // as last returned
	values map[string]bool               // of the leases so far
}

// rounding is by how much two roundings of clock readings can differ.
const rounding = time.Microsecond

func watchReturnedCalls(r *watch) {
	if r.FailsOver {
		return // votes may be on a replica that was promoted, whose changes nobody tells of
	}
	p := &returnedCalls{watch: r, until: map[protocols.Lease]time.Time{}, values: map[string]bool{}}
	r.onReturn(p.returned)
}

// count counts the nodes on which something is so for the votes on all resources of a lease.
func (r *returnedCalls) count(resources []string, value string, is func(*onNode) bool) (n int) {
	for i := range r.World.Servers {
		all := !slices.ContainsFunc(resources, func(key string) bool {
			e := r.ledger.of[vote{key, value}]
			return e == nil || !is(&e.nodes[i])
		})
		if all {
			n++
		}
	}
	return n
}

func (r *returnedCalls) returned(c *call, err error) {
	lease, voted := c.Lease.(protocols.Voted)
	if !voted {
		return
	}
	r.judged++
	switch {
	case c.Func == protocols.AcquireCall:
		if r.values[lease.Value()] {
			r.broken(c.Resources[0], "two leases have the same value, the second is %s's", c.Client)
		}
		r.values[lease.Value()] = true
		r.named(c)
		r.bears(c, lease)
	case c.Func == protocols.ExtendCall:
		if protocols.Has[protocols.RedlockSettings](r.Lock) {
			r.extended(c, err)
		}
		r.bears(c, lease)
	case c.Func == protocols.ReleaseCall && err == nil:
		r.released(c, lease)
	}
	r.until[c.Lease] = c.Lease.Until()
}

// named compares what a lease says that it is on with what was asked for.
func (r *returnedCalls) named(c *call) {
	lease, named := c.Lease.(protocols.Named)
	if !named {
		return
	}
	asked := slices.Sorted(slices.Values(c.Resources))
	if on := lease.Resources(); !slices.Equal(on, asked) {
		r.broken(c.Resources[0], "%s asked for the lock on %s, and is given a lease on %s", c.Client, and(quoted(asked)), and(quoted(on)))
	}
	if name := nameOf(c); lease.Resource() != name {
		r.broken(c.Resources[0], "%s asked for the lock on %s, and its lease is named %q", c.Client, and(quoted(asked)), lease.Resource())
	}
}

// bears compares the end of a lease with those of the votes for it. A vote counts as it was when its deadline was set: what a
// node forgets later, the quorum allows for. No client can know how wrong its clock and those of the nodes are.
func (r *returnedCalls) bears(c *call, lease protocols.Voted) {
	until := c.Lease.Until()
	if !c.client.ProgramClock().Now().Before(until) || c.Lease.Context().Err() != nil {
		return // nobody believes in it
	}
	end := c.client.WhenReads(until)
	if n := r.count(c.Resources, lease.Value(), func(n *onNode) bool { return n.isThere && n.until.Add(rounding) >= end }); n < lease.Quorum() {
		lasts := fmt.Sprintf("until %v", time.Duration(end).Round(time.Microsecond))
		if end == kernel.Forever {
			lasts = "without an end, by its clock, which stands still"
		}
		r.brokenWithin(c.Resources[0],
			"%s is told that its lease lasts %s, but its keys last for so long on only %d of the %d nodes that it takes",
			c.Client, lasts, n, lease.Quorum())
	}
}

// extended compares the end of a lease after an extend with what it was, and if it succeeded with what was asked for. Other
// locks than the library's shorten a lease if asked to.
func (r *returnedCalls) extended(c *call, err error) {
	end := c.Lease.Until()
	if until := r.until[c.Lease]; end.Before(until) {
		r.broken(c.Resources[0], "an extend moved the end of %s's lease %v back", c.Client, until.Sub(end))
	}
	drift := protocols.Of[protocols.RedlockSettings](r.Lock).Drift
	if short := c.reads.Add(c.TTL - allowance(drift, c.TTL)).Sub(end); err == nil && short > 0 {
		r.broken(c.Resources[0],
			"%s's extend to %v succeeded, but the lease ends %v earlier than that, less the drift allowance", c.Client, c.TTL, short)
	}
}

// released looks whether a quorum has deleted the keys, as a release that succeeds says.
func (r *returnedCalls) released(c *call, lease protocols.Voted) {
	n := r.count(c.Resources, lease.Value(), func(n *onNode) bool { return n.removed >= c.began })
	if n < lease.Quorum() {
		r.broken(c.Resources[0], "%s's release succeeded, but only %d of the %d nodes that it takes have deleted its key for it",
			c.Client, n, lease.Quorum())
	}
}

// allowance is CLOCK_DRIFT for a TTL, rounded up. It is computed here and not by the library, which the rules judge.
func allowance(d protocols.Drift, ttl time.Duration) time.Duration {
	return time.Duration(d.Factor.Ratio().Mul(decimal.NewFromInt(int64(ttl))).Ceil().IntPart()) + d.Constant
}
