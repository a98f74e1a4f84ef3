package rules

// values numbers the values of acquisitions, so that rules find what they know of one in a slice: looking it up in a map of its
// own would take each of them longer than most of what it judges. All are told of a command or a step before the next one, so
// its value is looked up once for all of them.
type values struct {
	numbers map[string]int
	recent  [16]numbered // by the first letter of the value, as values are random
}

type numbered struct {
	value  string
	number int
}

func newValues() *values { return &values{numbers: map[string]int{"": 0}} }

// number is that of a value; 0 is that of none.
func (v *values) number(value string) int {
	if value == "" {
		return 0
	}
	r := &v.recent[value[0]%uint8(len(v.recent))]
	if r.value == value {
		return r.number
	}
	n, known := v.numbers[value]
	if !known {
		n = len(v.numbers)
		v.numbers[value] = n
	}
	*r = numbered{value, n}
	return n
}

// vote is a key with the value of an acquisition.
type vote struct{ key, value string }

// byVote is what is known of each vote.
type byVote[T any] struct {
	values *values
	all    []*ofVote[T] // by the numbers of the values
	slab   slab[ofVote[T]]
}

// ofVote is what is known of a vote, and the next one with the same value: a lock on several resources has several keys.
type ofVote[T any] struct {
	key  string
	its  T
	next *ofVote[T]
}

func votesOf[T any](r *Run) byVote[T] { return byVote[T]{values: r.values} }

// of is what is known of a vote; nil if nothing is.
func (b *byVote[T]) of(v vote) *T {
	n := b.values.number(v.value)
	if n >= len(b.all) {
		return nil
	}
	for x := b.all[n]; x != nil; x = x.next {
		if x.key == v.key {
			return &x.its
		}
	}
	return nil
}

// add begins with a vote of which nothing is known yet.
func (b *byVote[T]) add(v vote) *T {
	n := b.values.number(v.value)
	for len(b.all) <= n {
		b.all = append(b.all, nil)
	}
	x := &b.slab.take(1)[0]
	x.key, x.next = v.key, b.all[n]
	b.all[n] = x
	return &x.its
}

// each yields what is known of every vote.
func (b *byVote[T]) each(yield func(*T) bool) {
	for _, x := range b.all {
		for ; x != nil; x = x.next {
			if !yield(&x.its) {
				return
			}
		}
	}
}

// slab is memory for many small things that last until the end of the run.
type slab[T any] struct{ spare []T }

// take is memory for some of them, next to each other.
func (s *slab[T]) take(n int) []T {
	if len(s.spare) < n {
		const times = 16
		s.spare = make([]T, times*n)
	}
	taken := s.spare[:n:n]
	s.spare = s.spare[n:]
	return taken
}
