// Package quorum is the rule of votes: how many nodes must agree, and whether they have, still can, or no longer can.
package quorum

import (
	"math/bits"

	"redlocksim/redlock/driver"
)

// Majority is the smallest number of n nodes of which every two groups of that size share a node: ⌊n/2⌋+1.
// An even n tolerates no more failures than n−1.
func Majority(n int) int { return n/2 + 1 }

// Max is the largest number of nodes of a Set.
const Max = 64

// Set is a set of nodes by index, from 0 to Max-1. The zero Set is empty.
type Set uint64

// All is the set of the first n nodes.
func All(n int) Set { return Set(^uint64(0) >> (64 - n)) }

// Has reports whether node i is in the set.
func (s Set) Has(i int) bool { return s&(1<<i) != 0 }

// With is the set and node i.
func (s Set) With(i int) Set { return s | 1<<i }

// Without is the set less those of t.
func (s Set) Without(t Set) Set { return s &^ t }

// Len is the number of members.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// Each yields the members in ascending order.
func (s Set) Each(yield func(int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

// Ballot is what the nodes that were asked in a round have answered.
type Ballot struct {
	Asked     Set
	Later     Set // those that are asked if the gate says yes; of a release, once they have answered the acquire
	Suspected Set // those that have not answered lately
	Answered  Set // those whose outcome is settled, timeouts included
	Accepted  Set
	Declined  Set
	Behind    Set
	Voteless  Set // answered, and have no vote to give
}

// Record settles the outcome of node i.
func (b *Ballot) Record(i int, o driver.Outcome) {
	b.Answered = b.Answered.With(i)
	switch o {
	case driver.Accepted:
		b.Accepted = b.Accepted.With(i)
	case driver.Declined:
		b.Declined = b.Declined.With(i)
	case driver.Behind:
		b.Behind = b.Behind.With(i)
	case driver.Failed, driver.Quarantined:
		b.Voteless = b.Voteless.With(i)
	}
}

// Pending is the set of nodes whose outcome is open.
func (b *Ballot) Pending() Set { return b.Asked.Without(b.Answered) }

// Replied is the set of nodes that gave any answer in time. One that refused a connection gave none.
func (b *Ballot) Replied() Set { return b.Accepted | b.Declined | b.Behind | b.Voteless }

// Reached reports whether a quorum said yes.
func (b *Ballot) Reached(quorum int) bool { return b.Accepted.Len() >= quorum }

// Open is the set of nodes that are still waited for. Where another has votes, and all that were to be relied on have answered,
// that is none.
func (b *Ballot) Open() Set {
	open := b.Pending() | b.Later
	if b.Declined != 0 && open.Without(b.Suspected) == 0 {
		return 0
	}
	return open
}

// Lost reports whether a quorum can no longer say yes, but for nodes that are suspected.
func (b *Ballot) Lost(quorum int) bool { return b.Accepted.Len()+b.Open().Len() < quorum }

// BeatableYet reports whether a quorum may still turn out to vote for a fencing token that is high enough.
func (b *Ballot) BeatableYet(quorum int) bool {
	return (b.Accepted | b.Behind | b.Open()).Len() >= quorum
}
