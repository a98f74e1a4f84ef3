package timeline

import (
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"
)

// rect is a rectangle of a thumbnail.
type rect struct {
	Class  string  `xml:"class,attr"`
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
}

// Every bar is in its lane and in the picture, node C has one client's key after the other's, and the frame is from where the
// second client begins to believe to where the first of the two ends.
func TestThumbnailIsToScale(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	var b strings.Builder
	if err := WriteThumbnail(&b, line); err != nil {
		t.Fatal(err)
	}
	var picture struct {
		Width  float64 `xml:"width,attr"`
		Height float64 `xml:"height,attr"`
		Rects  []rect  `xml:"rect"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &picture); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<text") || strings.Contains(b.String(), "client-") {
		t.Errorf("it has a text: %s", &b)
	}
	if want := float64(len(line.Lanes)) * thumbnailLane; picture.Height != want {
		t.Errorf("%v high, want %v", picture.Height, want)
	}
	bars := make([][]string, len(line.Lanes))
	var frame rect
	var beliefs, keysOfC []rect
	for _, r := range picture.Rects {
		if r.X < 0 || r.Y < 0 || r.X+r.Width > picture.Width+.1 || r.Y+r.Height > picture.Height {
			t.Errorf("beyond the picture: %+v", r)
		}
		lane := int(r.Y) / thumbnailLane
		switch class, _, _ := strings.Cut(r.Class, " "); class {
		case "violation":
			frame = r
		case "believed":
			beliefs = append(beliefs, r)
			bars[lane] = append(bars[lane], r.Class)
		case "key":
			if line.Lanes[lane].Name == "C" {
				keysOfC = append(keysOfC, r)
			}
			bars[lane] = append(bars[lane], r.Class)
		}
	}
	want := map[string][]string{"client-1": {"believed c0"}, "client-2": {"believed c1"}, "A": {"key c0"}, "B": {"key c0"},
		"C": {"key c0", "key c1"}, "D": {"key c1"}, "E": {"key c1"}}
	for i, l := range line.Lanes {
		if !slices.Equal(bars[i], want[l.Name]) {
			t.Errorf("%s: %q, want %q", l.Name, bars[i], want[l.Name])
		}
	}
	if len(keysOfC) != 2 || len(beliefs) != 2 {
		t.Fatalf("keys of C %v, beliefs %v", keysOfC, beliefs)
	}
	if keysOfC[0].X+keysOfC[0].Width >= keysOfC[1].X {
		t.Errorf("C keeps two keys at once: %v", keysOfC)
	}
	from := max(beliefs[0].X, beliefs[1].X)
	to := min(beliefs[0].X+beliefs[0].Width, beliefs[1].X+beliefs[1].Width)
	if math.Abs(frame.X-from) > .2 || math.Abs(frame.X+frame.Width-to) > .2 || frame.Y > 1 || frame.Y+frame.Height < picture.Height-1 {
		t.Errorf("the frame is %+v, both believe from %v to %v", frame, from, to)
	}
}
