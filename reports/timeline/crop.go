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
	limits := []limit{{maxSteps, t.steps()}, {maxSpans, t.spans()}}
	if s := widest(around, whole, limits...); s != whole {
		all := [2]int{len(t.Story), whole.count(t.spans())}
		b.cut(s)
		t.From, t.To = s.From, s.To
		t.Notes = append(t.Notes, fmt.Sprintf("The run is too long to be drawn as a whole: this is %s, from %s to %s of %s, with %d of %s and %d of %s.",
			where, seconds(s.From), seconds(s.To), seconds(whole.To), len(t.Story), plural.Count(all[0], "sentence"), s.count(t.spans()), plural.Count(all[1], "span")))
	}
	b.thin(around)
	// Steps at the same instant take no more room than one.
	t.Focus = widest(around, Stretch{t.From, t.To}, limit{focusMoments, slices.Compact(t.steps())})
}

// thin leaves out messages that are too many: those that nodes send each other, and then those that are farthest from
// what is to be seen.
func (b *builder) thin(around Stretch) {
	t := b.t
	if len(t.Arrows) <= maxArrows {
		return
	}
	all := len(t.Arrows)
	t.Arrows = slices.DeleteFunc(t.Arrows, func(a Arrow) bool { return t.Lanes[a.client()].Kind != clientLane })
	if n := all - len(t.Arrows); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s between nodes are not drawn.", plural.Count(n, "message")))
	}
	if all = len(t.Arrows); all <= maxArrows {
		return
	}
	s := widest(around, Stretch{t.From, t.To}, limit{maxArrows, t.messages()})
	t.Arrows = slices.DeleteFunc(t.Arrows, func(a Arrow) bool { return !s.has(a.Sent, a.Ended) })
	t.Notes = append(t.Notes, fmt.Sprintf("Messages are drawn from %s to %s only: %d of %d.", seconds(s.From), seconds(s.To), len(t.Arrows), all))
}

// limit is how many of some things a stretch may have.
type limit struct {
	most int
	of   []Stretch
}

// widest is the widest stretch around another, within the whole, that keeps to the limits.
func widest(around, whole Stretch, limits ...limit) Stretch {
	around = Stretch{max(around.From, whole.From), min(around.To, whole.To)}
	fits := func(s Stretch) bool {
		return !slices.ContainsFunc(limits, func(l limit) bool { return s.count(l.of) > l.most })
	}
	if fits(whole) {
		return whole
	}
	grown := func(by Instant) Stretch { return Stretch{max(whole.From, around.From-by), min(whole.To, around.To+by)} }
	if s := grown(largest(whole.To-whole.From, func(by Instant) bool { return fits(grown(by)) })); fits(s) {
		return s
	}
	// Even the stretch to be shown has too much: its beginning.
	long := largest(around.To-around.From, func(long Instant) bool { return fits(Stretch{around.From, around.From + long}) })
	return Stretch{around.From, around.From + max(long, 1000)}
}

// largest is the largest length that fits, to a microsecond, where so much is too large.
func largest(tooLarge Instant, fits func(Instant) bool) (length Instant) {
	for tooLarge-length > 1000 {
		if middle := length + (tooLarge-length)/2; fits(middle) {
			length = middle
		} else {
			tooLarge = middle
		}
	}
	return length
}

// has says whether something from one instant to another lies in the stretch, at least in part.
func (s Stretch) has(from, to Instant) bool { return from <= s.To && to >= s.From }

// count is how many of some things lie in the stretch, at least in part.
func (s Stretch) count(all []Stretch) (n int) {
	for _, o := range all {
		if s.has(o.From, o.To) {
			n++
		}
	}
	return n
}

func (t *Timeline) steps() (all []Stretch) {
	for i := range t.Story {
		all = append(all, Stretch{t.Story[i].At, t.Story[i].At})
	}
	return all
}

func (t *Timeline) spans() (all []Stretch) {
	for i := range t.Lanes {
		for _, s := range t.Lanes[i].Spans {
			all = append(all, Stretch{s.From, s.To})
		}
	}
	return all
}

func (t *Timeline) messages() (all []Stretch) {
	for i := range t.Arrows {
		all = append(all, Stretch{t.Arrows[i].Sent, t.Arrows[i].Ended})
	}
	return all
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
