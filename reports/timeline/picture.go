package timeline

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"redlocksim/internal/printable"
)

// picture draws the lanes of a timeline as elements of SVG. What they look like is said by picture.css.
//
// The page's program moves these same elements when it zooms; it finds them by their classes and by data-lane and data-i,
// which are places in the timeline's lists. The labels of spans and marks have data-span and data-mark instead.
type picture struct {
	strings.Builder
	labels     strings.Builder // of all lanes, which lie over the messages
	t          *Timeline
	lay        layout
	width      int
	scale      scale
	left, over float64 // the place at the left edge of the plot, and how much of the scale the plot shows
	isStill    bool    // it cannot be moved, and what lies outside of the plot need not be there
}

func newPicture(t *Timeline, width int) *picture {
	p := &picture{t: t, lay: arrangeLanes(t), width: width, scale: told(t, Stretch{t.From, t.To})}
	p.left = p.scale.place(t.Focus.From)
	p.over = p.scale.place(t.Focus.To) - p.left
	return p
}

// x is where an instant is, between the edges of the plot or a little outside of them.
func (p *picture) x(at Instant) float64 {
	part := (p.scale.place(at) - p.left) / p.over
	return float64(p.lay.gutter) + min(max(part, -1), 2)*p.plot()
}

// leavesOut says that nothing is to be drawn from one instant to another.
func (p *picture) leavesOut(from, to Instant) bool { return p.isStill && !p.t.Focus.has(from, to) }

// plot is how wide the plot is.
func (p *picture) plot() float64 { return float64(p.width - p.lay.gutter - edge) }

func (p *picture) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// n writes a coordinate, to a tenth of a pixel.
func n(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Round(x*10)/10), ".0")
}

// esc is a text as XML has it, in which control characters cannot be said at all.
func esc(text string) string { return html.EscapeString(printable.Line(text)) }

// style is the class of what belongs to a client's lane: one of six colours with their patterns.
func (p *picture) style(lane int) string {
	if lane < 0 || p.t.Lanes[lane].Kind != clientLane {
		return "nobody"
	}
	return fmt.Sprintf("c%d", lane%styles)
}

// styles is how many clients look different.
const styles = 6

// defs are the patterns and arrow heads; the classes of picture.css refer to them.
const defs = `<defs>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 .8 8 4 0 7.2z"/></marker>
<marker id="late" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="late-head" d="M.6 1 7.4 4 .6 7z"/></marker>
<marker id="cross" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="8" markerHeight="8" orient="0"><path class="cross" d="M1 1 9 9M9 1 1 9"/></marker>
<pattern id="p0" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f0" width="6" height="6"/><path class="s0" d="M-1 7 7-1"/></pattern>
<pattern id="p1" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f1" width="6" height="6"/><circle class="d1" cx="3" cy="3" r="1.1"/></pattern>
<pattern id="p2" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f2" width="6" height="6"/><path class="s2" d="M3 0V6"/></pattern>
<pattern id="p3" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f3" width="6" height="6"/><path class="s3" d="M-1-1 7 7"/></pattern>
<pattern id="p4" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f4" width="6" height="6"/><path class="s4" d="M0 3H6"/></pattern>
<pattern id="p5" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="f5" width="8" height="8"/><path class="s5" d="M4 0V8M0 4H8"/></pattern>
<pattern id="stopped" width="8" height="8" patternUnits="userSpaceOnUse"><path class="hatch" d="M-2 6 6-2M2 10 10 2"/></pattern>
<pattern id="both" width="7" height="7" patternUnits="userSpaceOnUse"><path class="both-hatch" d="M-1-1 8 8M-1 8 8-1"/></pattern>
</defs>
`

// shows says whether a place lies within the plot.
func (p *picture) shows(x float64) bool {
	return x >= float64(p.lay.gutter)-.5 && x <= float64(p.width)
}

// wire is the height at which messages leave and reach a lane.
func (p *picture) wire(lane int) float64 {
	return float64(p.lay.lanes[lane].top + p.lay.lanes[lane].wire)
}

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
			switch span.Kind {
			case keySpan, otherSpan, askingSpan:
			case votesSpan:
				if span.Quorum {
					add(span.From, span.To)
				}
			default:
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
