package timeline

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/page"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

var renderers = map[string]func(io.Writer, *Timeline) error{
	"html": WriteHTML, "svg": WriteSVG,
}

func rendered(t testing.TB, format string, line *Timeline) string {
	t.Helper()
	var b bytes.Buffer
	if err := renderers[format](&b, line); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is an element of a picture.
type element struct {
	name string
	at   map[string]string
	text string
}

// elements parses a picture, which must be XML.
func elements(t testing.TB, picture string) []element {
	t.Helper()
	var all []element
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := element{name: x.Name.Local, at: map[string]string{}}
			for _, a := range x.Attr {
				e.at[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(x)
			}
		}
	}
}

func (e element) is(class string) bool {
	return strings.Contains(" "+e.at["class"]+" ", " "+class+" ")
}

func (e element) number(t testing.TB, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(e.at[name], 64)
	if err != nil {
		t.Fatalf("%s of %+v: %v", name, e, err)
	}
	return x
}

// Every scenario's picture is XML with its title, its violation and a cross for every message that is lost and not one of
// those that a band stands for; and refers to nothing outside.
func TestPictures(t *testing.T) {
	lost := 0
	each(t, func(t *testing.T, r *verdict.Result, line *Timeline) {
		picture := rendered(t, "svg", line)
		crosses, names := 0, 0
		all := elements(t, picture)
		for _, e := range beneath(all) {
			t.Errorf("messages are drawn across %q", e.text)
		}
		for _, e := range all {
			if e.name == "line" && e.is("arrow") && e.is("lost") && e.at["data-i"] != "" {
				crosses++
			}
			if e.is("name") {
				names++
			}
			for name, value := range e.at {
				if strings.Contains(value, "http") && name != "xmlns" || name == "href" || name == "src" {
					t.Errorf("%s=%q", name, value)
				}
			}
		}
		want := 0
		for _, a := range line.Arrows {
			if a.Fate == lostFate && !a.Folded && line.Focus.has(a.Sent, a.Ended) {
				want++
			}
		}
		lost += want
		if crosses != want {
			t.Errorf("%d crosses for %d lost messages", crosses, want)
		}
		if names != len(line.Lanes) {
			t.Errorf("%d names for %d lanes", names, len(line.Lanes))
		}
		if !strings.Contains(picture, esc(line.Name)) || line.Violation != nil && (!strings.Contains(picture, esc(line.Violation.Name())) || !strings.Contains(picture, "band")) {
			t.Error("no title or no violation")
		}
	})
	if lost < 100 {
		t.Errorf("only %d lost messages were compared", lost)
	}
	if !strings.Contains(page.Picture, ".arrow.lost { stroke: var(--bad); marker-end: url(#cross); }") {
		t.Error("lost messages do not end in a cross")
	}
}

// beneath is the texts of lanes that messages are drawn over: all but names, which stand beside the plot.
func beneath(all []element) (texts []element) {
	last := len(all) - 1
	for last >= 0 && (!all[last].is("arrow") || all[last].at["data-i"] == "") {
		last--
	}
	inLanes := false
	for _, e := range all[:last+1] {
		inLanes = inLanes || e.is("ground")
		if e.name == "text" && inLanes && !e.is("name") && !e.is("row") {
			texts = append(texts, e)
		}
	}
	return texts
}

// Bars lie where the scale has their times: the band of the violation begins where the later bar does, and ends where
// the earlier of the two ends.
func TestTheBandIsWhereTheBarsOverlap(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	all := elements(t, rendered(t, "svg", line))
	var bars [][2]float64
	var band [2]float64
	for i, e := range all {
		box := func(e element) [2]float64 {
			return [2]float64{e.number(t, "x"), e.number(t, "x") + e.number(t, "width")}
		}
		switch {
		case e.is("believed") && e.at["data-i"] != "":
			bars = append(bars, box(all[i+2])) // behind the title
		case e.is("band") && e.at["y"] != "":
			band = box(e)
		}
	}
	if len(bars) != 2 || math.Abs(band[0]-bars[1][0]) > .11 || math.Abs(band[1]-bars[1][1]) > .11 || bars[0][0] >= band[0] || bars[0][1] <= band[1] {
		t.Errorf("the bars are %v, the band is %v", bars, band)
	}
}

// A page has its story without its program, its data as one block that is what was drawn, and no address but that of
// SVG's own name.
func TestPages(t *testing.T) {
	_, line := drawn(t, "32-pause-before-write")
	page := rendered(t, "html", line)
	data := unpacked(t, page)
	for _, want := range []string{"<title>32-pause-before-write: the holder is paused", "stale-write", "redlocksim run 32-pause-before-write", "Kleppmann 2016", line.Story[0].Text} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, want := range []string{`class="span believed`, `class="arrow`} {
		if !strings.Contains(data.Picture, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	for _, text := range []string{page, data.Picture} {
		if rest := strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, "http:") || strings.Contains(rest, "https:") || strings.Contains(rest, "@import") {
			t.Error("the page names an address")
		}
	}
	got, err := json.Marshal(data.Timeline)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the data is not the timeline")
	}
}

// unpacked is the data of a page.
func unpacked(t testing.TB, page string) (data embedded) {
	t.Helper()
	_, block, _ := strings.Cut(page, `id="data">`)
	block, _, _ = strings.Cut(block, "</script>")
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(block)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&data); err != nil {
		t.Fatal(err)
	}
	return data
}

// A page of a directory is the same but for what it shares: its style and its program.
func TestSharedPages(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	var b strings.Builder
	if err := WriteSharedHTML(&b, line); err != nil {
		t.Fatal(err)
	}
	alone, shared := unpacked(t, rendered(t, "html", line)), unpacked(t, b.String())
	if alone.Picture != shared.Picture || !strings.Contains(b.String(), `href="style.css"`) || !strings.Contains(b.String(), `src="script.js"`) {
		t.Error("it is another page")
	}
	if strings.Contains(b.String(), "<style>") || strings.Contains(b.String(), "querySelector") {
		t.Error("it has a style or a program of its own")
	}
}

// What a scenario says of itself cannot become part of the page.
func TestTextIsEscaped(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	evil := `</script><script>alert("x")</script><b>&amp;` + "\x1b[31m\x00\n\xff\uffff"
	line.Title, line.Source, line.Repeat, line.Story[0].Text, line.Lanes[0].Name, line.Lanes[0].Spans[0].Text = evil, evil, evil, evil, evil, evil
	page := rendered(t, "html", line)
	for format, text := range map[string]string{"page": page, "picture": unpacked(t, page).Picture, "svg": rendered(t, "svg", line)} {
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "<b>") {
			t.Errorf("%s: the text is not escaped", format)
		}
	}
	elements(t, rendered(t, "svg", line))
}

// The same scenario, seed and version give the same bytes.
func TestSameRunSameBytes(t *testing.T) {
	for _, name := range []string{"17-clock-jump", "09-contention", "44-redisson/long-work", "06-failover-to-a-replica"} {
		for _, tier := range scenarios.Tiers() {
			for format := range renderers {
				var texts [2]string
				for i := range texts {
					texts[i] = rendered(t, format, timelineOf(t, scenariotest.Judged(t, scenariotest.Named(t, name), scenarios.Options{Tier: tier})))
				}
				if texts[0] != texts[1] {
					t.Errorf("%s on %s: the %s is another one the second time", name, tier, format)
				}
			}
		}
	}
}

// The scale keeps the order, has its ends at its ends, and gives a millisecond room beside a second.
func TestScale(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	s := told(line, Stretch{line.From, line.To})
	if s.place(line.From) != 0 || s.place(line.To) != 1 {
		t.Errorf("from %v to %v", s.place(line.From), s.place(line.To))
	}
	last := -1.
	for i := range 10_000 {
		at := line.From + Instant(i)*(line.To-line.From)/10_000
		p := s.place(at)
		if p <= last {
			t.Fatalf("%d is at %v, and what is before it at %v", at, p, last)
		}
		last = p
	}
	// client-1 asks for 6 ms and holds the lock for 8 s: evenly, that would be one pixel in a thousand.
	l := line.lane("client-1")
	asks, believes := l.all(askingSpan)[0], l.all(believedSpan)[0]
	if part := s.place(asks.To) - s.place(asks.From); part < .03 {
		t.Errorf("asking has %.3f of the width", part)
	}
	if part := s.place(believes.To) - s.place(believes.From); part < .5 {
		t.Errorf("believing has %.3f of the width", part)
	}
}

// Instants on the axis have three digits, or as many as tell apart what is shown.
func TestBrief(t *testing.T) {
	const ms, s = Instant(time.Millisecond), Instant(time.Second)
	for _, x := range []struct {
		at, over Instant
		want     string
	}{
		{0, 8 * s, "0s"}, {6253889, 8 * s, "6.25ms"}, {1006253889, 8 * s, "1.01s"}, {8*s + 6*ms, 8 * s, "8.01s"}, {15*s + 4*ms, 15 * s, "15s"},
		{10125300 * Instant(time.Microsecond), 15 * s, "10.13s"}, {10125300 * Instant(time.Microsecond), 10 * ms, "10.1253s"}, {75 * s, 80 * s, "1m15s"}, {60*s + 5*ms, 10 * ms, "1m0.005s"},
	} {
		if got := brief(x.at, x.over); got != x.want {
			t.Errorf("%d within %d is %s, want %s", x.at, x.over, got, x.want)
		}
	}
}

// The axis is broken where seconds have as much room as milliseconds elsewhere, and nowhere if all stretches are alike.
func TestBreaks(t *testing.T) {
	at := func(marks ...Instant) []float64 {
		line := &Timeline{To: 4000, Focus: Stretch{0, 4000}, Lanes: []Lane{{Name: "a", Kind: clientLane}}}
		for _, m := range marks {
			line.Story = append(line.Story, Step{At: m})
		}
		return newPicture(line, documentWidth).breaks()
	}
	if b := at(1000, 2000, 3000); len(b) != 0 {
		t.Errorf("breaks at %v of an even axis", b)
	}
	p := newPicture(&Timeline{To: 4000, Focus: Stretch{0, 4000}, Lanes: []Lane{{Name: "a"}}, Story: []Step{{At: 100}}}, documentWidth)
	if b := p.breaks(); len(b) != 1 || b[0] <= p.x(100) || b[0] >= p.x(4000) {
		t.Errorf("breaks at %v, want one between %v and %v", b, p.x(100), p.x(4000))
	}
}

// A page has its tick only for a run as expected in which the lock holds: one that tested nothing has none, nor has one that
// violates nothing and leaves a lock that is stuck.
func TestVerdictSign(t *testing.T) {
	for _, x := range []struct {
		violation *Violation
		isBroken  bool
		ok        bool
		sign      string
	}{{nil, false, true, "✓"}, {nil, false, false, "✕"}, {nil, true, true, "◆ stuck"}, {&Violation{Kind: "stale-write"}, true, true, "◆ stuck"},
		{&Violation{Kind: "stale-write"}, true, false, "✕"}} {
		var b strings.Builder
		if err := WriteHTML(&b, &Timeline{Violation: x.violation, isBroken: x.isBroken, headline: "stuck", OK: x.ok, To: 1, Focus: Stretch{0, 1}}); err != nil {
			t.Fatal(err)
		}
		if sign := "<strong>" + x.sign; !strings.Contains(b.String(), sign) {
			t.Errorf("%+v: no %s", x, sign)
		}
	}
}
