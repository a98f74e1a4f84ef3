package scenarios

import (
	"strings"
	"testing"
)

// What a file says of tier live is read, and refused where it makes no sense, at its place.
func TestOnLive(t *testing.T) {
	const file = `title: t
source: s
explanation: e
claim: holds
clients: [c]
timeline: []
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	for text, want := range map[string]string{
		"live: {speed: 3}":                      "",
		"live: {not: it is over in 2 ms}":       "",
		"live: {speed: -1}":                     "x.yaml:8:15: live.speed: must be from 0 to 100 \"-1\"",
		"live: {speed: 101}":                    "x.yaml:8:15: live.speed: must be from 0 to 100 \"101\"",
		"live: {not: \"two\\nlines\"}":          "is one line of printable text",
		"live: {why: it is over in a moment}":   "why",
		"live: {speed: 1, not: [it, is, over]}": "x.yaml:8:23",
	} {
		all, err := Parse("x.yaml", []byte(file+text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		case want == "" && strings.Contains(text, "speed") && all[0].Live.Speed != 3:
			t.Errorf("%s is read as %+v", text, all[0].Live)
		}
	}
}
