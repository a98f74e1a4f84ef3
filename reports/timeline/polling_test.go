package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The band of a client that polls has the number of its attempts, less the first and the last; their messages are folded,
// and those of the others are drawn.
func TestPollingIsFolded(t *testing.T) {
	r, line := drawn(t, "32-pause-before-write")
	attempts, answered := 0, 0
	for _, e := range r.History {
		if e.Process != "client-2" {
			continue
		}
		switch e.Name {
		case "attempt-started":
			attempts++
		case "node-answered":
			answered++
		}
	}
	spans := line.lane("client-2").all(pollingSpan)
	if want := fmt.Sprintf("%d more attempts", attempts-2); len(spans) != 1 || spans[0].Label != want {
		t.Fatalf("%+v, want %s", spans, want)
	}
	folded, drawnArrows := 0, 0
	for _, a := range line.Arrows {
		inside := line.Lanes[a.client()].Name == "client-2" && a.Sent >= spans[0].From && a.Sent < spans[0].To
		if a.Folded != inside {
			t.Errorf("%+v, and the band is %+v", a, spans[0])
		}
		if a.Folded {
			folded++
		} else {
			drawnArrows++
		}
	}
	if folded < answered/2 || drawnArrows == 0 {
		t.Errorf("%d folded and %d drawn, of a client with %d answers", folded, drawnArrows, answered)
	}
	p := newPicture(line, documentWidth)
	p.isStill = true
	p.draw()
	if n := strings.Count(p.String(), `<line class="arrow`); n != drawnArrows {
		t.Errorf("%d arrows in the picture, want %d", n, drawnArrows)
	}
	if _, line = drawn(t, "17-clock-jump"); len(line.lane("client-2").all(pollingSpan)) != 0 {
		t.Error("a client that asks once polls")
	}
}

// A lock that does not tell of its attempts has requests.
func TestRequestsAreFolded(t *testing.T) {
	for name, client := range map[string]string{"47-consensus/paused-client": "client-2", "48-database-row-lock/holder-dies": "client-2"} {
		r, line := drawn(t, name)
		sent := map[Instant]bool{}
		at := slices.IndexFunc(line.Lanes, func(l Lane) bool { return l.Name == client })
		asks := line.lane(client).all(askingSpan)[0]
		for _, a := range line.Arrows {
			if a.client() == at && !a.IsReply && asks.From <= a.Sent && a.Sent < asks.To {
				sent[a.Sent] = true
			}
		}
		spans := line.lane(client).all(pollingSpan)
		if want := fmt.Sprintf("%d more requests", len(sent)-2); len(spans) != 1 || spans[0].Label != want {
			t.Fatalf("%s: %+v, want %s", r.Scenario.Name, spans, want)
		}
		for _, a := range line.Arrows {
			if inside := a.client() == at && a.Sent >= spans[0].From && a.Sent < spans[0].To; a.Folded != inside {
				t.Errorf("%s: %+v, and the band is %+v", r.Scenario.Name, a, spans[0])
			}
		}
	}
}
