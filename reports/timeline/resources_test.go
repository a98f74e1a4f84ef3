package timeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What is on which resource can be told in the picture: each row of a lane has its name before it, the bar of the violation is
// named by it where there is no room for more, and so is the violation. A picture of one resource has none of that.
func TestResourcesAreNamedInPictures(t *testing.T) {
	_, line := drawn(t, "69-two-locks/one-breaks")
	var b bytes.Buffer
	if err := WriteSVG(&b, line); err != nil {
		t.Fatal(err)
	}
	for _, l := range line.Lanes {
		_, lane, ok := strings.Cut(b.String(), `">`+l.Name+`</text>`)
		lane, _, _ = strings.Cut(lane, `<g class="plot"`)
		rows := map[string]bool{}
		for _, s := range l.Spans {
			rows[s.Resource] = rows[s.Resource] || s.Kind == believedSpan || s.Kind == askingSpan || s.Kind == keySpan
		}
		for _, name := range []string{"invoices", "orders"} {
			if has := strings.Contains(lane, `</title>`+name+`</text>`); !ok || has != rows[name] {
				t.Errorf("%s: %s is named: %t, want %t\n%s", l.Name, name, has, rows[name], lane)
			}
		}
	}
	client2 := slices.IndexFunc(line.Lanes, func(l Lane) bool { return l.Name == "client-2" })
	_, labels, _ := strings.Cut(b.String(), fmt.Sprintf(`<g class="labels client" data-lane="%d"`, client2))
	_, bar, _ := strings.Cut(labels, `<g class="label believed `)
	bar, _, _ = strings.Cut(bar, "</g>")
	if !strings.HasSuffix(bar, ">invoices</text>") || strings.Contains(bar, "display") {
		t.Errorf("the bar of client 2: %s", bar)
	}
	if !strings.Contains(b.String(), ">both hold invoices: 2s<") {
		t.Error("the violation does not say on what it is")
	}
	_, line = drawn(t, "17-clock-jump")
	b.Reset()
	if err := WriteSVG(&b, line); err != nil || strings.Contains(b.String(), `class="row resource"`) {
		t.Errorf("with one resource: %v", err)
	}
}

// A name that is too long is cut in the gutter, and said in full where one points.
func TestLongResourceInGutter(t *testing.T) {
	const name = "a-resource-with-a-long-name"
	line := &Timeline{To: 10, Focus: Stretch{0, 10}, Resources: []string{name, "b"},
		Lanes: []Lane{{Name: "A", Kind: nodeLane, Spans: []Span{{Kind: keySpan, To: 10, Owner: -1, Resource: name, Label: "key"}}}}}
	p := newPicture(line, 800)
	p.drawLane(0)
	if want := `<title>` + name + `</title>a-resource-wi…</text>`; !strings.Contains(p.String(), want) || p.lay.gutter > largestGutter+longestResource*6 {
		t.Errorf("gutter %d: %s", p.lay.gutter, p.String())
	}
}

// TestEachResourceHasItsRow: where a run has several, what is on one is never drawn over what is on another.
func TestEachResourceHasItsRow(t *testing.T) {
	_, line := drawn(t, "69-two-locks/one-breaks")
	for _, l := range line.Lanes {
		rows := map[int]string{}
		for _, s := range l.Spans {
			switch s.Kind {
			case askingSpan, believedSpan, keySpan:
				if s.Resource == "" {
					t.Errorf("%s: %s is on no resource", l.Name, s.Text)
				}
				if on, ok := rows[s.Row]; ok && on != s.Resource {
					t.Errorf("%s: row %d has %s and %s", l.Name, s.Row, on, s.Resource)
				}
				rows[s.Row] = s.Resource
			}
		}
	}
	if _, line := drawn(t, "17-clock-jump"); line.Resources != nil || strings.Contains(line.Lanes[0].Spans[0].Text, " on R") {
		t.Errorf("one resource is named: %v", line.Resources)
	}
}

// TestACallInVainHasItsRow: what a client asks for and is never granted is named, and not drawn over what it is granted.
func TestACallInVainHasItsRow(t *testing.T) {
	spans := []Span{{Kind: believedSpan, To: 10, Resource: "a"}, {Kind: askingSpan, To: 10, Resource: "b", Row: 1}}
	line := &Timeline{To: 10, Focus: Stretch{0, 10}, Resources: []string{"a", "b"}, Lanes: []Lane{{Name: "c", Kind: clientLane, Spans: spans}}}
	p := newPicture(line, 800)
	p.drawLane(0)
	granted, height := p.lay.lanes[0].bar(&spans[0])
	if asked, _ := p.lay.lanes[0].bar(&spans[1]); asked < granted+height || !strings.Contains(p.String(), `</title>b</text>`) {
		t.Errorf("the lock is %d to %d, the call in vain is at %d: %s", granted, granted+height, asked, p.String())
	}
}

// TestVotesThatOverlapHaveRows: a client may ask for one lock in several calls, and what the votes of one say is not drawn over
// that of another.
func TestVotesThatOverlapHaveRows(t *testing.T) {
	_, line := drawn(t, "111-everything-at-once")
	several := false
	for _, l := range line.Lanes {
		last := map[int]Span{}
		for _, s := range l.all(votesSpan) {
			if before, is := last[s.Row]; is && (before.To > s.From || before.Resource != s.Resource) {
				t.Errorf("%s: %q and %q share row %d", l.Name, before.Text, s.Text, s.Row)
			}
			last[s.Row] = s
		}
		several = several || len(last) > len(line.Resources)
	}
	if !several {
		t.Error("the votes of no two calls overlap")
	}
}
