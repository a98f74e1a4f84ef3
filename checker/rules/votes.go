package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// promises compares what calls return with what the nodes hold. It judges leases that are protocols.Voted.
type promises struct {
	*watch
	until  map[protocols.Lease]time.Time // as last returned
	values map[string]bool               // of the leases so far
}

// rounding is by how much two roundings of clock readings can differ.
const rounding = time.Microsecond

func watchVotes(r *watch) {
	if len(r.World.Replicas) > 0 {
		return // votes may be on a replica that was promoted, whose changes nobody tells of
	}
	p := &promises{watch: r, until: map[protocols.Lease]time.Time{}, values: map[string]bool{}}
	r.onReturn(p.returned)
}

// count counts the nodes on which something is so for the votes on all resources of a lease.
func (p *promises) count(resources []string, value string, is func(*onNode) bool) (n int) {
	for i := range p.World.Servers {
		all := !slices.ContainsFunc(resources, func(key string) bool {
			e := p.ledger.of[vote{key, value}]
			return e == nil || !is(&e.nodes[i])
		})
		if all {
			n++
		}
	}
	return n
}

func (p *promises) returned(c *call, err error) {
	lease, voted := c.Lease.(protocols.Voted)
	if !voted {
		return
	}
	p.judged++
	switch {
	case c.Func == protocols.AcquireCall:
		if p.values[lease.Value()] {
			p.broken(c.Resources[0], "two leases have the same value, the second is %s's", c.Client)
		}
		p.values[lease.Value()] = true
		p.named(c)
		p.bears(c, lease)
	case c.Func == protocols.ExtendCall:
		if protocols.Has[protocols.RedlockSettings](p.Lock) {
			p.extended(c, err)
		}
		p.bears(c, lease)
	case c.Func == protocols.ReleaseCall && err == nil:
		p.released(c, lease)
	}
	p.until[c.Lease] = c.Lease.Until()
}

// named compares what a lease says that it is on with what was asked for.
func (p *promises) named(c *call) {
	lease, named := c.Lease.(protocols.Named)
	if !named {
		return
	}
	asked := slices.Sorted(slices.Values(c.Resources))
	if on := lease.Resources(); !slices.Equal(on, asked) {
		p.broken(c.Resources[0], "%s asked for the lock on %s, and is given a lease on %s", c.Client, and(quoted(asked)), and(quoted(on)))
	}
	if name := nameOf(c); lease.Resource() != name {
		p.broken(c.Resources[0], "%s asked for the lock on %s, and its lease is named %q", c.Client, and(quoted(asked)), lease.Resource())
	}
}

// bears compares the end of a lease with those of the votes for it. A vote counts as it was when its deadline was set: what a
// node forgets later, the quorum allows for. No client can know how wrong its clock and those of the nodes are.
func (p *promises) bears(c *call, lease protocols.Voted) {
	until := c.Lease.Until()
	if !c.client.ProgramClock().Now().Before(until) || c.Lease.Context().Err() != nil {
		return // nobody believes in it
	}
	end := c.client.WhenReads(until)
	if n := p.count(c.Resources, lease.Value(), func(n *onNode) bool { return n.isThere && n.until.Add(rounding) >= end }); n < lease.Quorum() {
		lasts := fmt.Sprintf("until %v", time.Duration(end).Round(time.Microsecond))
		if end == kernel.Forever {
			lasts = "without an end, by its clock, which stands still"
		}
		p.brokenWithin(c.Resources[0],
			"%s is told that its lease lasts %s, but its keys last for so long on only %d of the %d nodes that it takes",
			c.Client, lasts, n, lease.Quorum())
	}
}

// extended compares the end of a lease after an extend with what it was, and if it succeeded with what was asked for. Other
// locks than the library's shorten a lease if asked to.
func (p *promises) extended(c *call, err error) {
	end := c.Lease.Until()
	if until := p.until[c.Lease]; end.Before(until) {
		p.broken(c.Resources[0], "an extend moved the end of %s's lease %v back", c.Client, until.Sub(end))
	}
	drift := protocols.Of[protocols.RedlockSettings](p.Lock).Drift
	if short := c.reads.Add(c.TTL - allowance(drift, c.TTL)).Sub(end); err == nil && short > 0 {
		p.broken(c.Resources[0],
			"%s's extend to %v succeeded, but the lease ends %v earlier than that, less the drift allowance", c.Client, c.TTL, short)
	}
}

// released looks whether a quorum has deleted the keys, as a release that succeeds says.
func (p *promises) released(c *call, lease protocols.Voted) {
	n := p.count(c.Resources, lease.Value(), func(n *onNode) bool { return n.removed >= c.began })
	if n < lease.Quorum() {
		p.broken(c.Resources[0], "%s's release succeeded, but only %d of the %d nodes that it takes have deleted its key for it",
			c.Client, n, lease.Quorum())
	}
}

// confirmed watches that replicas have acknowledged what a client is told that they confirm (redlock.WithReplicas): as many
// grants and extends of a value as it is told of. After a failover, or once a node of the group has stopped, nothing is judged.
type confirmed struct {
	*watch
	replicas int // that must confirm
	// writes are the places of the writes of each value in what the master tells its replicas, and told is how many of them the
	// client was told of.
	writes map[string][]uint64
	told   map[string]int
}

func watchReplicas(r *watch) {
	n := protocols.Of[protocols.OneRedisSettings](r.Lock).Replicas
	if r.Foreign || n == 0 {
		return
	}
	x := &confirmed{watch: r, replicas: n, writes: map[string][]uint64{}, told: map[string]int{}}
	r.onApplied(x.applied)
	r.onStep(x.stepped, observe.Granted, observe.Extended)
}

func (x *confirmed) applied(a *redis.Applied) {
	value, place := a.After.Value, a.Server.Offset()+1 // once the command is over
	before := x.writes[value]
	if a.Removed() || a.Before == a.After || len(before) > 0 && before[len(before)-1] == place { // another key of the same lock
		return
	}
	x.writes[value] = append(before, place)
}

func (x *confirmed) stepped(client string, e *observe.Event) {
	x.told[e.Value]++
	writes := x.writes[e.Value]
	master := x.World.Servers[0]
	if len(writes) == 0 || !isCalm(master) {
		return
	}
	last := writes[min(x.told[e.Value], len(writes))-1] // an extend that changes nothing is no write
	x.judged++
	if n := master.Confirmed(min(last, master.Offset())); n < x.replicas {
		x.broken(e.Resource, "%s is told that its lock is %v, which %d replicas of %s have confirmed, and it asks for %d", client, e.Step, n,
			master.Name(), x.replicas)
	}
}

// isCalm says that a master and its replicas have been that from the beginning, without a stop.
func isCalm(master *redis.Server) bool {
	return !slices.ContainsFunc(master.Group(), func(s *redis.Server) bool {
		return s.Restarted() || !s.Up() || s.IsReplica() == (s == master)
	})
}

// allowance is CLOCK_DRIFT for a TTL, rounded up. It is computed here and not by the library, which the rules judge.
func allowance(d protocols.Drift, ttl time.Duration) time.Duration {
	return time.Duration(d.Factor.Ratio().Mul(decimal.NewFromInt(int64(ttl))).Ceil().IntPart()) + d.Constant
}
