package monitor

// vote is a key with the value of an acquisition.
type vote struct{ key, value string }

// byVote is what is known of each vote. A round asks all nodes about the same vote, so the last one is kept at hand: finding it
// in the map takes longer than most of what monitors do with it.
type byVote[T any] struct {
	all  map[vote]T
	last vote
	its  T
}

// of is what is known of a vote; the zero value if nothing is.
func (b *byVote[T]) of(v vote) T {
	if v == b.last {
		return b.its
	}
	x, known := b.all[v]
	if known {
		b.last, b.its = v, x
	}
	return x
}

// set keeps what is known of a vote, once and for all.
func (b *byVote[T]) set(v vote, x T) {
	if b.all == nil {
		b.all = map[vote]T{}
	}
	b.all[v] = x
	b.last, b.its = v, x
}
