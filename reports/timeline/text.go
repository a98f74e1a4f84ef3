package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/wordwrap"
)

// Widths of text, in characters.
const (
	// TerminalWidth is that of a text whose reader has no terminal.
	TerminalWidth = 80
	smallestWidth = 40
	largestName   = 14
)

// WriteText writes Timeline.Focus as lines of at most width characters, and no fewer than 40: a row for each lane, in which
// every column is a stretch of true time.
func WriteText(w io.Writer, t *Timeline, width int) error {
	r := newRows(t, max(width, smallestWidth))
	r.axis()
	for i := range t.Lanes {
		r.lane(i)
	}
	r.violation()
	r.legend()
	var b strings.Builder
	for _, line := range r.lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows draws a timeline with characters.
type rows struct {
	t          *Timeline
	name       int // characters before the plot
	columns    int
	scale      scale
	left, over float64
	lines      []string
	used       map[rune]bool
}

func newRows(t *Timeline, width int) *rows {
	r := &rows{t: t, scale: told(t, Stretch{t.From, t.To}), used: map[rune]bool{}}
	for _, l := range t.Lanes {
		r.name = max(r.name, len([]rune(l.Name)))
	}
	r.name = min(max(r.name, len("  granted")), largestName) + 1
	r.columns = width - r.name
	r.left = r.scale.place(t.Focus.From)
	r.over = r.scale.place(t.Focus.To) - r.left
	return r
}

// hardSpace keeps a line from being broken.
const hardSpace = string(wordwrap.HardSpace)

// column is that in which an instant lies; of those outside, the first or the last.
func (r *rows) column(at Instant) int {
	c := int((r.scale.place(at) - r.left) / r.over * float64(r.columns))
	return min(max(c, 0), r.columns-1)
}

// row is one line of the plot.
type row []rune

func (r *rows) empty() row { return row(strings.Repeat(" ", r.columns)) }

// fill writes a character from one instant up to another, and at least once.
func (r *rows) fill(line row, from, to Instant, sign rune) {
	if !r.t.Focus.has(from, to) {
		return
	}
	r.used[sign] = true
	first, last := r.column(from), r.column(to)
	if last > first && to <= r.t.Focus.To {
		last--
	}
	for c := first; c <= last; c++ {
		line[c] = sign
	}
}

// write puts a text at a column if there is room from there on, and says whether there was.
func (line row) write(c int, text string) bool {
	signs := []rune(text)
	if c < 0 || c+len(signs) > len(line) {
		return false
	}
	for i := max(0, c-1); i < min(c+len(signs)+1, len(line)); i++ {
		if line[i] != ' ' {
			return false
		}
	}
	copy(line[c:], signs)
	return true
}

func (r *rows) add(name string, line row) {
	if signs := []rune(name); len(signs) >= r.name {
		name = string(signs[:r.name-2]) + "…"
	}
	r.lines = append(r.lines, fmt.Sprintf("%-*s%s", r.name, name, string(line)))
}

// axis writes the true times of what happens, as many as fit: the violation's first, then those of the story, each above
// its column; and the numbers of the story's sentences.
func (r *rows) axis() {
	times, ticks, numbers := r.empty(), r.empty(), r.empty()
	mark := func(at Instant) {
		c := r.column(at)
		if text := r.t.Brief(at); r.t.Focus.has(at, at) && (times.write(c, text) || times.write(min(c, r.columns-len(text)), text) && c == r.columns-1) {
			ticks[c] = '|'
		}
	}
	if v := r.t.Violation; v != nil {
		mark(v.From)
		mark(v.To)
	}
	mark(r.t.Focus.From)
	for _, s := range r.t.Story {
		mark(s.At)
	}
	for i := 0; i < len(r.t.Story); i++ {
		s := r.t.Story[i]
		if !r.t.Focus.has(s.At, s.At) {
			continue
		}
		// Sentences in one column share a number: "1-3".
		text := fmt.Sprint(s.Number)
		last := i
		for last+1 < len(r.t.Story) && r.column(r.t.Story[last+1].At) == r.column(s.At) && r.t.Focus.has(r.t.Story[last+1].At, r.t.Story[last+1].At) {
			last++
		}
		if last > i {
			text += fmt.Sprintf("-%d", r.t.Story[last].Number)
		}
		c := r.column(s.At)
		if !numbers.write(c, text) {
			numbers.write(c, fmt.Sprint(s.Number))
		}
		i = last
	}
	r.add("true time", times)
	r.add("", ticks)
	r.add("story", numbers)
}

// The characters of a text.
const (
	signAsks     = '.'
	signBelieves = '='
	signBoth     = '#'
	signGranted  = '-'
	signPaused   = 'z'
	signDown     = 'x'
	signLost     = '~'
	signActs     = '_'
	signAccepted = 'w'
	signRead     = 'r'
	signRefused  = '!'
)

func (r *rows) lane(i int) {
	l := &r.t.Lanes[i]
	if r.t.Resources == nil || l.Kind == storageLane {
		r.windows(i, "", l.Name)
	} else {
		r.add(l.Name, r.empty())
		for _, resource := range r.t.Resources {
			if slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Resource == resource && r.t.Focus.has(s.From, s.To) }) {
				r.windows(i, resource, " "+resource)
			}
		}
	}
	r.acts(l)
	r.stopped(l)
	r.faults(l)
	r.obstacles(l)
}

// drawn fills a row with the spans of some kinds that are on a resource, and says whether there are any.
func (r *rows) drawn(line row, l *Lane, resource string, sign func(*Span) rune, kinds ...SpanKind) bool {
	any := false
	for j := range l.Spans {
		if s := &l.Spans[j]; slices.Contains(kinds, s.Kind) && (resource == "" || s.Resource == resource) && r.t.Focus.has(s.From, s.To) {
			any = true
			r.fill(line, s.From, s.To, sign(s))
		}
	}
	return any
}

func always(sign rune) func(*Span) rune { return func(*Span) rune { return sign } }

// windows writes what a lane asks for, believes, is granted and keeps, of one resource where the run has more.
func (r *rows) windows(i int, resource, name string) {
	l := &r.t.Lanes[i]
	if l.Kind == storageLane {
		return
	}
	main, granted := r.empty(), r.empty()
	r.drawn(main, l, resource, always(signAsks), askingSpan)
	r.drawn(main, l, resource, always(signBelieves), believedSpan)
	r.drawn(main, l, resource, func(s *Span) rune { return r.digit(s.Owner) }, keySpan)
	if v := r.t.Violation; v != nil {
		for _, w := range v.Windows {
			isOn := resource == "" || slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Resource == resource && s.Grant == w.Grant })
			if w.Lane == i && isOn && max(w.From, v.From) < min(w.To, v.To) {
				r.fill(main, max(w.From, v.From), min(w.To, v.To), signBoth)
			}
		}
	}
	r.add(name, main)
	if r.drawn(granted, l, resource, always(signGranted), grantedSpan) {
		r.add("  granted", granted)
	}
}

// acts writes the effects of a client, or those that the storage or a node was asked for.
func (r *rows) acts(l *Lane) {
	acts := r.empty()
	any := r.drawn(acts, l, "", always(signActs), actingSpan)
	for _, m := range l.Marks {
		if !r.t.Focus.has(m.At, m.At) || m.Kind != acceptedMark && m.Kind != refusedMark {
			continue
		}
		any = true
		sign := signAccepted
		switch {
		case m.Kind == refusedMark:
			sign = signRefused
		case m.isRead():
			sign = signRead
		}
		r.fill(acts, m.At, m.At, sign)
	}
	switch {
	case l.Kind == storageLane:
		r.add(l.Name, acts)
	case any:
		r.add("  acts", acts)
	}
}

// stopped writes when a process did not run.
func (r *rows) stopped(l *Lane) {
	line := r.empty()
	paused := r.drawn(line, l, "", always(signPaused), pausedSpan, suspendedSpan)
	crashed := r.drawn(line, l, "", always(signDown), crashedSpan)
	down := r.drawn(line, l, "", always(signDown), downSpan, offSpan)
	switch {
	case paused:
		r.add("  paused", line)
	case crashed:
		r.add("  crashed", line)
	case down:
		r.add("  down", line)
	}
}

// digit stands for a client.
func (r *rows) digit(lane int) rune {
	if lane < 0 || lane >= 9 {
		return '+'
	}
	return rune('1' + lane)
}

// faults writes the faults of a lane, each at its column: what fits.
func (r *rows) faults(l *Lane) {
	line, any := r.empty(), false
	for j := 0; j < len(l.Marks); j++ {
		m := l.Marks[j]
		if m.Kind != faultMark && m.Kind != crashMark || !r.t.Focus.has(m.At, m.At) {
			continue
		}
		any = true
		text := m.Label
		for j+1 < len(l.Marks) && l.Marks[j+1].At == m.At && l.Marks[j+1].Kind == m.Kind {
			j++
			text += ", " + l.Marks[j].Label
		}
		c := r.column(m.At)
		if !line.write(c, "^ "+text) && !line.write(c+1-len(text)-2, text+" ^") && line[c] == ' ' {
			line[c] = '^'
		}
	}
	if any {
		r.add("", line)
	}
}

// obstacles writes what is done to messages, a line for each row of them.
func (r *rows) obstacles(l *Lane) {
	for n := range maxObstacleRows {
		line, any := r.empty(), false
		for j := range l.Spans {
			s := &l.Spans[j]
			if s.Row != n || s.Kind != cutSpan && s.Kind != heldSpan && s.Kind != slowSpan || !r.t.Focus.has(s.From, s.To) {
				continue
			}
			any = true
			r.fill(line, s.From, s.To, signLost)
			if first, label := r.column(s.From), []rune(s.Label); r.column(s.To)-first > len(label)+3 {
				copy(line[first+1:], append(append([]rune{' '}, label...), ' '))
			}
		}
		if any {
			r.add("", line)
		}
	}
}

func (r *rows) violation() {
	v := r.t.Violation
	if v == nil {
		return
	}
	line := r.empty()
	first, last := r.column(v.From), max(r.column(v.To)-1, r.column(v.From))
	for c := first; c <= last; c++ {
		line[c] = '^'
	}
	r.add("", line)
	line = r.empty()
	text := v.Name()
	if n := len([]rune(text)); n <= r.columns {
		copy(line[min(max((first+last+1-n)/2, 0), r.columns-n):], []rune(text))
		r.add("", line)
		return
	}
	r.lines = append(r.lines, wordwrap.Lines(text, r.name+r.columns)...)
}

func (r *rows) legend() {
	var parts []string
	for _, s := range []struct {
		sign rune
		text string
	}{{signAsks, "asks"}, {signBelieves, "believes"}, {signBoth, "believes in the violation"}, {signGranted, "granted by a quorum"}, {signActs, "acts"},
		{signAccepted, "a write is taken"}, {signRead, "a read"}, {signRefused, "turned down"}, {signPaused, "paused"}, {signDown, "down or crashed"}, {signLost, "messages lost, held or slow"}} {
		if r.used[s.sign] {
			parts = append(parts, fmt.Sprintf("%c %s", s.sign, s.text))
		}
	}
	for i, l := range r.t.Lanes {
		if l.Kind == clientLane && r.used[r.digit(i)] {
			parts = append(parts, fmt.Sprintf("%c a key of %s", r.digit(i), l.Name))
		}
	}
	text := ""
	if len(parts) > 0 {
		text = strings.ReplaceAll(strings.Join(parts, "\n"), " ", hardSpace)
		text = strings.ReplaceAll(text, "\n", ", ") + "."
	}
	for _, note := range r.t.notesOn(r.t.Focus) {
		text += " " + note
	}
	r.lines = append(r.lines, "")
	for _, line := range wordwrap.Lines(text, r.name+r.columns) {
		r.lines = append(r.lines, strings.ReplaceAll(line, hardSpace, " "))
	}
}
