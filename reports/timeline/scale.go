package timeline

import (
	"math"
	"slices"
)

// scale lays instants out from left to right, 0 to 1. It gives each stretch between two things that happen a width that
// grows with the fourth root of its length: a second is five and a half times as wide as a millisecond. So the milliseconds
// in which a lock is taken and the seconds for which it is held can be seen in one picture. The order is kept, equal times
// are at equal places, and the axis says which time is where.
type scale struct {
	// points are instants, ascending, and places where they are; what lies between two of them is even.
	points []Instant
	places []float64
}

// told is a scale on which there is room for what happens.
func told(t *Timeline, s Stretch) scale {
	points := []Instant{s.From, s.To}
	add := func(all ...Instant) {
		for _, at := range all {
			if at > s.From && at < s.To {
				points = append(points, at)
			}
		}
	}
	for _, step := range t.Story {
		add(step.At)
	}
	for _, l := range t.Lanes {
		for _, span := range l.Spans {
			if span.Kind != keySpan && span.Kind != votesSpan && span.Kind != otherSpan && span.Kind != askingSpan {
				add(span.From, span.To)
			}
		}
		for _, m := range l.Marks {
			add(m.At)
		}
	}
	if v := t.Violation; v != nil {
		add(v.From, v.To)
	}
	slices.Sort(points)
	points = slices.Compact(points)
	sc := scale{points: points, places: make([]float64, len(points))}
	for i := 1; i < len(points); i++ {
		sc.places[i] = sc.places[i-1] + math.Sqrt(math.Sqrt(float64(points[i]-points[i-1])))
	}
	for i := range sc.places {
		sc.places[i] /= sc.places[len(points)-1]
	}
	return sc
}

// place is where an instant is; before 0 and after 1 there is nothing.
func (s scale) place(at Instant) float64 {
	i, found := slices.BinarySearch(s.points, at)
	switch {
	case found:
		return s.places[i]
	case i == 0:
		return 0
	case i == len(s.points):
		return 1
	}
	part := float64(at-s.points[i-1]) / float64(s.points[i]-s.points[i-1])
	return s.places[i-1] + part*(s.places[i]-s.places[i-1])
}
