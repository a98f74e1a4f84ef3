package timeline

import (
	"slices"
)

// Sizes in pixels. Widths of text are estimates for a sans-serif font, on the wide side.
const (
	stepsHeight     = 16
	axisHeight      = 20
	overlapHeight   = 18
	lanePadding     = 5
	believedHeight  = 18
	votesHeight     = 14
	actsHeight      = 12
	keyHeight       = 16
	obstacleHeight  = 11
	labelHeight     = 13
	charWidth       = 6.4
	smallCharWidth  = 5.6
	boldCharWidth   = 7.4
	nameCharWidth   = 7.2
	smallestGutter  = 84
	largestGutter   = 150
	edge            = 8 // right of the plot
	storageHeight   = 18
	laneGap         = 3
	maxObstacleRows = 4
)

// lanePlace is where a lane and the rows in it are, from the lane's top.
type lanePlace struct {
	top, height             int
	labels                  int // of marks; -1 for none
	believed, believedRows  int // of a client
	votes, acts             int // -1 where there are none
	keys                    int // of a node
	shade                   int // where it says why a client does not run
	obstacles, obstacleRows int
	wire                    int // where messages leave and arrive
}

// layout is where everything is from top to bottom; left to right is the scale's.
type layout struct {
	gutter                int
	names                 int // the part of the gutter that the names of lanes have; that of resources is behind it
	axis, overlap, bottom int // the tops of the axis and of the overlap's name, and the bottom of the lanes
	lanes                 []lanePlace
}

// arrangeLanes puts the lanes of a timeline below each other.
func arrangeLanes(t *Timeline) layout {
	longest := 0
	for _, l := range t.Lanes {
		longest = max(longest, len([]rune(l.Name)))
	}
	lay := layout{gutter: min(max(int(float64(longest)*nameCharWidth)+20, smallestGutter), largestGutter), axis: stepsHeight}
	lay.names = lay.gutter
	if len(t.Resources) > 0 {
		longest := 0
		for _, name := range t.Resources {
			longest = max(longest, len([]rune(shortened(name))))
		}
		lay.gutter += int(float64(longest) * smallCharWidth)
	}
	y := stepsHeight + axisHeight
	lay.overlap = y
	if t.Violation != nil {
		y += overlapHeight
	}
	for i := range t.Lanes {
		p := placeLane(&t.Lanes[i])
		p.top = y
		lay.lanes = append(lay.lanes, p)
		y += p.height + laneGap
	}
	lay.bottom = y
	return lay
}

func placeLane(l *Lane) lanePlace {
	rows := func(kinds ...SpanKind) int {
		n := 0
		for i := range l.Spans {
			if slices.Contains(kinds, l.Spans[i].Kind) {
				n = max(n, l.Spans[i].Row+1)
			}
		}
		return n
	}
	p := lanePlace{labels: -1, votes: -1, acts: -1}
	y := lanePadding
	if slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Kind == faultMark || m.Kind == crashMark }) {
		p.labels = y
		y += labelHeight
	}
	switch l.Kind {
	case clientLane:
		p.believed, p.believedRows = y, max(1, rows(believedSpan))
		p.wire = y + believedHeight/2
		y += p.believedRows*believedHeight + 2
		if n := rows(votesSpan); n > 0 {
			p.votes = y
			y += n*votesHeight + 2
		}
		if rows(actingSpan) > 0 || slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Kind == acceptedMark || m.Kind == refusedMark }) {
			p.acts = y
			y += max(1, rows(actingSpan)) * actsHeight
		}
	case storageLane:
		p.acts, p.wire = y, y+storageHeight/2
		y += storageHeight
	default:
		p.keys = y
		p.wire = y + keyHeight/2
		y += max(1, rows(keySpan)) * keyHeight
		if slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Kind == acceptedMark || m.Kind == refusedMark }) {
			p.acts = y
			y += actsHeight
		}
	}
	if l.Kind == clientLane && slices.ContainsFunc(l.Spans, func(s Span) bool { return s.isShade() }) {
		p.shade = y
		y += labelHeight
	}
	if p.obstacleRows = min(rows(cutSpan, heldSpan, slowSpan), maxObstacleRows); p.obstacleRows > 0 {
		p.obstacles = y + 1
		y += p.obstacleRows*obstacleHeight + 1
	}
	p.height = y + lanePadding
	return p
}
