package rules

// values numbers the values of acquisitions, so that monitors find what they know of one in a slice: looking it up in a map of
// its own would take each of them longer than most of what it judges. All are told of a command or a step before the next one,
// so its value is looked up once for all of them.
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

// byValue is what is known of each value.
type byValue[T any] struct {
	values *values
	all    []*T // by the numbers of the values
	slab[T]
}

// of is what is known of a value; nil if nothing is.
func (b *byValue[T]) of(value string) *T {
	if n := b.values.number(value); n < len(b.all) {
		return b.all[n]
	}
	return nil
}

// add begins anew with a value, of which nothing is known yet.
func (b *byValue[T]) add(value string) *T {
	n := b.values.number(value)
	for len(b.all) <= n {
		b.all = append(b.all, nil)
	}
	b.all[n] = &b.take(1)[0]
	return b.all[n]
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
