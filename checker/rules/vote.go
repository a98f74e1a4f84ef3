package rules

// vote is a key with the value of an acquisition.
type vote struct{ key, value string }

// byVote is what is known of each vote.
type byVote[T any] struct{ values byValue[ofVote[T]] }

// ofVote is what is known of a vote, and the next one with the same value: a lock on several resources has several keys.
type ofVote[T any] struct {
	key  string
	its  T
	next *ofVote[T]
}

func votesOf[T any](r *Run) byVote[T] { return byVote[T]{byValue[ofVote[T]]{values: r.values}} }

// of is what is known of a vote; nil if nothing is.
func (b *byVote[T]) of(v vote) *T {
	for x := b.values.of(v.value); x != nil; x = x.next {
		if x.key == v.key {
			return &x.its
		}
	}
	return nil
}

// add begins with a vote of which nothing is known yet.
func (b *byVote[T]) add(v vote) *T {
	before := b.values.of(v.value)
	x := b.values.add(v.value)
	x.key, x.next = v.key, before
	return &x.its
}

// each yields what is known of every vote.
func (b *byVote[T]) each(yield func(*T) bool) {
	for _, x := range b.values.all {
		for ; x != nil; x = x.next {
			if !yield(&x.its) {
				return
			}
		}
	}
}
