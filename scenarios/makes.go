package scenarios

// Makes says whether its clients can make steps of this kind: all of them if f is nil, or if nobody knows better.
func (f *Foreign) Makes(kind StepKind) bool {
	if f == nil || f.Unable == nil {
		return true
	}
	s := Default()
	s.Timeline = []Item{{Do: []Step{{Kind: kind}}}}
	return f.Unable(&s) == nil
}
