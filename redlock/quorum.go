package redlock

import (
	"math/bits"

	"redlocksim/redlock/driver"
)

// Majority is the smallest number of n nodes of which every two groups of that size share a node: ⌊n/2⌋+1.
// An even n tolerates no more failures than n−1.
func Majority(n int) int { return n/2 + 1 }

// nodeSet is a set of nodes by index.
type nodeSet uint64

func allNodes(n int) nodeSet { return nodeSet(^uint64(0) >> (64 - n)) }

func (s nodeSet) has(i int) bool            { return s&(1<<i) != 0 }
func (s nodeSet) with(i int) nodeSet        { return s | 1<<i }
func (s nodeSet) without(t nodeSet) nodeSet { return s &^ t }
func (s nodeSet) len() int                  { return bits.OnesCount64(uint64(s)) }

// each yields the members in ascending order.
func (s nodeSet) each(yield func(int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

// ballot counts what the nodes asked in a round have answered.
type ballot struct {
	asked    nodeSet
	answered nodeSet // every node whose outcome is settled, timeouts included
	accepted nodeSet
	declined nodeSet
	behind   nodeSet
	voteless nodeSet // answered, and has no vote to give
}

func (b *ballot) record(i int, o driver.Outcome) {
	b.answered = b.answered.with(i)
	switch o {
	case driver.Accepted:
		b.accepted = b.accepted.with(i)
	case driver.Declined:
		b.declined = b.declined.with(i)
	case driver.Behind:
		b.behind = b.behind.with(i)
	case driver.Failed, driver.Quarantined:
		b.voteless = b.voteless.with(i)
	}
}

func (b *ballot) pending() nodeSet { return b.asked.without(b.answered) }

// replied is the set of nodes that gave an answer, whichever, in time. One that refused a connection gave none.
func (b *ballot) replied() nodeSet { return b.accepted | b.declined | b.behind | b.voteless }

// reached: a quorum said yes. lost: it no longer can.
func (b *ballot) reached(quorum int) bool { return b.accepted.len() >= quorum }
func (b *ballot) lost(quorum int) bool    { return b.accepted.len()+b.pending().len() < quorum }

// beatableYet: it may still turn out that a quorum would vote for a token that is high enough.
func (b *ballot) beatableYet(quorum int) bool {
	return (b.accepted | b.behind | b.pending()).len() >= quorum
}
