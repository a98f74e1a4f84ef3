package redlock

import (
	"cmp"
	"slices"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// A counter that is wrong by far must not be followed: one node whose counter was overwritten would take the resource's
// tokens with it, on all nodes and for good. So counters are believed only as far as enough nodes bear them out, and a
// node that is alone with its own merely has no vote. Safety does not depend on what is believed: it is the nodes' own rule
// that a token must be above their counter.
const (
	// nearCounters is by how much the counters of nodes may differ without being looked at twice. A node that was away for
	// more grants of a resource than that costs an attempt the wait for the answers of all nodes.
	nearCounters = 1 << 16
	// farCounters is by how much they may differ for the higher one to be followed where there is no other way to a quorum:
	// more than a node can have missed, and so little that it can happen two million times.
	farCounters = 1 << 32
)

// noCounter stands for that of a node which has not said what it is.
const noCounter = -1

// witnesses is how many of n nodes bear a counter out: more than the n − q that may be wrong, and two where there are two.
func witnesses(n, quorum int) int { return max(n-quorum+1, min(2, n)) }

// credible is the highest of the counters that so many nodes bear out, itself included, with one that is not lower by more
// than slack. It is 0 if there is none.
func credible(counters []int64, witnesses int, slack int64) int64 {
	var room [MaxNodes]int64
	falling := append(room[:0], counters...)
	slices.SortFunc(falling, func(a, b int64) int { return cmp.Compare(b, a) })
	if len(falling) < witnesses || falling[witnesses-1] == noCounter {
		return 0
	}
	for _, c := range falling {
		if c-slack <= falling[witnesses-1] {
			return c
		}
	}
	return 0
}

// proposal is what the round of an acquire with a fencing token learns of the nodes' counters. It is zero for other rounds.
type proposal struct {
	counters []int64 // of the nodes, as far as they said
	isFirst  bool    // a higher token may be proposed after it
	next     int64   // with errBehind: the token to propose then
}

// begin prepares a round that proposes a token to n nodes; 0 is none.
func (p *proposal) begin(token int64, round, n int) {
	if token == 0 {
		return
	}
	p.isFirst = round == 0
	p.counters = make([]int64, n)
	for i := range p.counters {
		p.counters[i] = noCounter
	}
}

// heard keeps the counter that an answer to an acquire with a token tells of, and returns what can be believed of those that
// others have raised; 0 if nothing can.
func (p *proposal) heard(node int, token int64, reply driver.Reply, quorum int) (believed int64) {
	switch reply.Outcome {
	case driver.Accepted:
		p.counters[node] = token
		return 0
	case driver.Declined, driver.Behind:
		p.counters[node] = reply.Token
	}
	return p.credible(nearCounters, quorum)
}

// credible is what can be believed of the counters that were heard of.
func (p *proposal) credible(slack int64, quorum int) int64 {
	return credible(p.counters, witnesses(len(p.counters), quorum), slack)
}

// beating is a token for which a quorum would vote, as far as the answers say: one above the highest counter that can be
// believed. It is 0 if there is none: if isFinal is not set, the answers that are still to come may change that; otherwise
// a quorum can be had only by following a counter that is alone. The voters are the nodes that would vote for a token that
// is high enough.
func (p *proposal) beating(voters quorum.Set, allAnswered bool, q int) (token int64, isFinal bool) {
	var room [MaxNodes]int64
	rising := room[:0]
	for i := range voters.Each {
		rising = append(rising, p.counters[i])
	}
	if len(rising) < q {
		return 0, false
	}
	slices.Sort(rising)
	enough := rising[q-1] // q nodes vote for what is above this
	if near := p.credible(nearCounters, q); near >= enough {
		return near + 1, true
	}
	if !allAnswered {
		return 0, false
	}
	if p.credible(farCounters, q) >= enough {
		return enough + 1, true
	}
	return 0, true
}
