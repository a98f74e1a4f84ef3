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

// band is the rows of a lane that spans of some kinds share.
type band int

const (
	noBand    band = iota // of what is not drawn
	shadeBand             // the lane as a whole, behind everything else
	keysBand
	believedBand
	votesBand
	actsBand
	obstaclesBand
	bandCount
)

// rowHeights are how high the rows of each band are.
var rowHeights = [bandCount]int{keysBand: keyHeight, believedBand: believedHeight, votesBand: votesHeight, actsBand: actsHeight, obstaclesBand: obstacleHeight}

// look is how spans of a kind are drawn: in which band, how far below the top of their row, and how high; and how high in a
// thumbnail, 0 where they are not in it.
type look struct {
	band
	inset, height, thumbnail int
}

var looks = map[SpanKind]look{
	askingSpan:    {believedBand, believedHeight/2 - 2, 4, 1},
	pollingSpan:   {believedBand, 1, believedHeight - 4, 0},
	believedSpan:  {believedBand, 0, believedHeight - 2, 7},
	votesSpan:     {votesBand, 0, votesHeight - 1, 0},
	actingSpan:    {actsBand, 4, 4, 0},
	keySpan:       {keysBand, 0, keyHeight - 2, 4},
	cutSpan:       {obstaclesBand, 0, obstacleHeight - 1, 0},
	heldSpan:      {obstaclesBand, 0, obstacleHeight - 1, 0},
	slowSpan:      {obstaclesBand, 0, obstacleHeight - 1, 0},
	pausedSpan:    {shadeBand, 0, 0, 7},
	suspendedSpan: {shadeBand, 0, 0, 7},
	crashedSpan:   {shadeBand, 0, 0, 7},
	downSpan:      {shadeBand, 0, 0, 7},
	offSpan:       {shadeBand, 0, 0, 7},
}

// isShade says that a span covers its lane, behind everything else.
func (s *Span) isShade() bool { return looks[s.Kind].band == shadeBand }

// lanePlace is where a lane and the bands in it are, from the lane's top.
type lanePlace struct {
	top, height int
	labels      int // of marks; -1 for none
	shade       int // where it says why a client does not run; 0 for none
	wire        int // where messages leave and arrive
	bands       [bandCount]struct{ top, rows int }
}

// bar is a span's box in its lane: top and height. A shade covers the lane; what is not drawn has no height.
func (at *lanePlace) bar(s *Span) (top, height int) {
	look := looks[s.Kind]
	in, row := at.bands[look.band], s.Row
	switch look.band {
	case shadeBand:
		return 0, at.height
	case obstaclesBand:
		row = min(row, in.rows-1)
	case believedBand: // calls may be more than beliefs
		row %= in.rows
	}
	return in.top + row*rowHeights[look.band] + look.inset, look.height
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
	p := lanePlace{labels: -1}
	for i := range l.Spans {
		// A call has a row of its own only where rows are of resources.
		if s := &l.Spans[i]; s.Resource != "" || s.Kind != askingSpan && s.Kind != pollingSpan {
			in := &p.bands[looks[s.Kind].band]
			in.rows = max(in.rows, s.Row+1)
		}
	}
	isAny := func(kinds ...MarkKind) bool {
		return slices.ContainsFunc(l.Marks, func(m Mark) bool { return slices.Contains(kinds, m.Kind) })
	}
	main := map[LaneKind]band{clientLane: believedBand, storageLane: actsBand, nodeLane: keysBand, replicaLane: keysBand}[l.Kind]
	p.bands[main].rows = max(p.bands[main].rows, 1)
	if isAny(acceptedMark, refusedMark) {
		p.bands[actsBand].rows = max(p.bands[actsBand].rows, 1)
	}
	y := lanePadding
	if isAny(faultMark, crashMark) {
		p.labels = y
		y += labelHeight
	}
	p.wire = y + rowHeights[main]/2
	if l.Kind == storageLane {
		p.wire = y + storageHeight/2
	}
	for b := keysBand; b <= actsBand; b++ {
		p.bands[b].top = y
		y += p.bands[b].rows * rowHeights[b]
		if p.bands[b].rows > 0 && (b == believedBand || b == votesBand) {
			y += 2
		}
	}
	if l.Kind == storageLane {
		y += storageHeight - actsHeight
	}
	if l.Kind == clientLane && p.bands[shadeBand].rows > 0 {
		p.shade = y
		y += labelHeight
	}
	if obstacles := &p.bands[obstaclesBand]; obstacles.rows > 0 {
		obstacles.top, obstacles.rows = y+1, min(obstacles.rows, maxObstacleRows)
		y += obstacles.rows*obstacleHeight + 1
	}
	p.height = y + lanePadding
	return p
}
