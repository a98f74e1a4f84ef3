package timeline

import (
	"encoding/xml"
	"strings"
	"testing"
)

// A thumbnail is one SVG element with a bar for each belief and each key, and a frame where the lock is broken; it has no
// text, whatever the run's names are.
func TestThumbnails(t *testing.T) {
	_, broken := drawn(t, "17-clock-jump")
	_, safe := drawn(t, "24-restart-at-once/one-of-five")
	for line, frames := range map[*Timeline]int{broken: 1, safe: 0} {
		var b strings.Builder
		if err := WriteThumbnail(&b, line); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
			t.Errorf("%v in %s", err, &b)
		}
		beliefs, keys := 0, 0
		for _, l := range line.Lanes {
			beliefs += len(l.all(believedSpan))
			keys += len(l.all(keySpan))
		}
		for class, want := range map[string]int{`"believed c`: beliefs, `"key c`: keys, `"violation"`: frames, "<text": 0, "client-": 0} {
			if got := strings.Count(b.String(), class); got != want {
				t.Errorf("%s: %d × %s, want %d", line.Name, got, class, want)
			}
		}
	}
}
