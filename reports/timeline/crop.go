package timeline

import (
	"fmt"
	"slices"

	"redlocksim/internal/plural"
)

// How much a timeline has. A page with all of it is some two megabytes.
const (
	maxArrows = 2000
	maxSpans  = 3000
	maxSteps  = 1000
)

// focusMoments is of about how many moments of the story a picture that cannot be moved tells.
const focusMoments = 40

// crop makes the stretch as large as it can be, and leaves out what lies outside of it; and messages that are too many
// even so.
func (b *builder) crop() {
	t := b.t
	last := Instant(0)
	if h := b.result.History; len(h) > 0 {
		last = Instant(h[len(h)-1].Time)
	}
	if last == 0 {
		last = b.end
	}
	if t.Violation != nil {
		last = max(last, t.Violation.To)
	}
	whole := Stretch{0, min(last+last/50+1, b.end)}
	t.From, t.To = whole.From, whole.To
	around, where := Stretch{0, 0}, "the beginning"
	if v := t.Violation; v != nil {
		around, where = Stretch{v.From, v.To}, "the violation"
	}
	limits := []limit{{maxSteps, b.countSteps}, {maxSpans, b.countSpans}}
	if s := widest(around, whole, limits...); s != whole {
		all := [2]int{len(t.Story), b.countSpans(whole)}
		b.cut(s)
		t.From, t.To = s.From, s.To
		t.Notes = append(t.Notes, fmt.Sprintf("The run is too long to be drawn as a whole: this is %s, from %s to %s of %s, with %d of %s and %d of %s.",
			where, seconds(s.From), seconds(s.To), seconds(whole.To), len(t.Story), plural.Count(all[0], "sentence"), b.countSpans(s), plural.Count(all[1], "span")))
	}
	b.thin(around)
	t.Focus = widest(around, Stretch{t.From, t.To}, limit{focusMoments, b.countMoments})
}

// thin leaves out messages that are too many: those that nodes send each other, and then those that are farthest from
// what is to be seen.
func (b *builder) thin(around Stretch) {
	t := b.t
	if len(t.Arrows) <= maxArrows {
		return
	}
	all := len(t.Arrows)
	t.Arrows = slices.DeleteFunc(t.Arrows, func(a Arrow) bool { return t.Lanes[a.Client].Kind != clientLane })
	if n := all - len(t.Arrows); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s between nodes are not drawn.", plural.Count(n, "message")))
	}
	if all = len(t.Arrows); all <= maxArrows {
		return
	}
	s := widest(around, Stretch{t.From, t.To}, limit{maxArrows, b.countArrows})
	t.Arrows = slices.DeleteFunc(t.Arrows, func(a Arrow) bool { return !s.has(a.Sent, a.Ended) })
	t.Notes = append(t.Notes, fmt.Sprintf("Messages are drawn from %s to %s only: %d of %d.", seconds(s.From), seconds(s.To), len(t.Arrows), all))
}

// limit is how much of something a stretch may have.
type limit struct {
	most  int
	count func(Stretch) int
}

// widest is the widest stretch around another, within the whole, that keeps to the limits.
func widest(around, whole Stretch, limits ...limit) Stretch {
	around = Stretch{max(around.From, whole.From), min(around.To, whole.To)}
	fits := func(s Stretch) bool {
		return !slices.ContainsFunc(limits, func(l limit) bool { return l.count(s) > l.most })
	}
	if fits(whole) {
		return whole
	}
	grown := func(by Instant) Stretch {
		return Stretch{max(whole.From, around.From-by), min(whole.To, around.To+by)}
	}
	low, high := Instant(0), whole.To-whole.From // the first fits, or is the least there is; the second does not fit
	for high-low > 1000 {
		middle := low + (high-low)/2
		if fits(grown(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	if s := grown(low); fits(s) {
		return s
	}
	// Even the stretch to be shown has too much: its beginning.
	low, high = 0, around.To-around.From
	for high-low > 1000 {
		middle := low + (high-low)/2
		if fits(Stretch{around.From, around.From + middle}) {
			low = middle
		} else {
			high = middle
		}
	}
	return Stretch{around.From, around.From + max(low, 1000)}
}

// has says whether something from one instant to another lies in the stretch, at least in part.
func (s Stretch) has(from, to Instant) bool { return from <= s.To && to >= s.From }

func (b *builder) countSteps(s Stretch) int {
	n := 0
	for i := range b.t.Story {
		if at := b.t.Story[i].At; s.has(at, at) {
			n++
		}
	}
	return n
}

// countMoments counts steps at the same instant once: they take no more room than one.
func (b *builder) countMoments(s Stretch) int {
	n, last := 0, Instant(-1)
	for i := range b.t.Story {
		if at := b.t.Story[i].At; at != last && s.has(at, at) {
			n, last = n+1, at
		}
	}
	return n
}

func (b *builder) countSpans(s Stretch) int {
	n := 0
	for i := range b.t.Lanes {
		for j := range b.t.Lanes[i].Spans {
			if span := &b.t.Lanes[i].Spans[j]; s.has(span.From, span.To) {
				n++
			}
		}
	}
	return n
}

func (b *builder) countArrows(s Stretch) int {
	n := 0
	for i := range b.t.Arrows {
		if s.has(b.t.Arrows[i].Sent, b.t.Arrows[i].Ended) {
			n++
		}
	}
	return n
}

// cut leaves out what does not lie in the stretch.
func (b *builder) cut(s Stretch) {
	t := b.t
	t.Story = slices.DeleteFunc(t.Story, func(x Step) bool { return !s.has(x.At, x.At) })
	t.Arrows = slices.DeleteFunc(t.Arrows, func(x Arrow) bool { return !s.has(x.Sent, x.Ended) })
	for i := range t.Lanes {
		l := &t.Lanes[i]
		l.Spans = slices.DeleteFunc(l.Spans, func(x Span) bool { return !s.has(x.From, x.To) })
		l.Marks = slices.DeleteFunc(l.Marks, func(x Mark) bool { return !s.has(x.At, x.At) })
	}
}
