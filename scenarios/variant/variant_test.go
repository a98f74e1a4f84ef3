package variant_test

import (
	"errors"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
)

func jump(t *testing.T) variant.File {
	t.Helper()
	s, _ := scenarios.Find("17-clock-jump")
	f, err := variant.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a path is set to is there, whether the file had it or not, and nothing else is different.
func TestWith(t *testing.T) {
	f := jump(t)
	for _, c := range []struct{ path, word, change string }{
		{"lock.quorum", "4", "lock.quorum: 4"},
		{"timeline[2].fault.clock-step.by", "7s", "timeline[2].fault.clock-step.by: 7s (was 10s)"},
		{"nodes.count", "5", "nodes.names[0]: A, nodes.names[1]: B, nodes.names[2]: C, nodes.names[3]: D, nodes.names[4]: E"},
	} {
		changed, err := f.With(variant.Setting{Path: c.path, Word: c.word})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, change := range variant.Changes(f, changed) {
			all = append(all, change.String())
		}
		if got := strings.Join(all, ", "); got != c.change || changed.Word(c.path) != c.word {
			t.Errorf("%s=%s: %s, %q", c.path, c.word, got, changed.Word(c.path))
		}
		if _, err := changed.Scenario(); err != nil {
			t.Errorf("%s=%s: %v", c.path, c.word, err)
		}
	}
	for word, want := range map[string]bool{"10000ms": true, "10001ms": false} {
		if changed, err := f.With(variant.Setting{Path: "lock.ttl", Word: word}); err != nil || variant.Same(f, changed) != want {
			t.Errorf("10s, a default, is the same as %s: %t, %v", word, !want, err)
		}
	}
}

// What is wrong is told by its key, and not by a line in a text that nobody wrote.
func TestWrong(t *testing.T) {
	for _, c := range []struct {
		path, word, want string
		isRefused        bool
	}{
		{"timeline[9].at", "1s", "timeline has 4 entries, counted from 0; there is no timeline[9]", false},
		{"nodes.count", "0", `"0" is not a number of nodes, from 1 to 64`, false},
		{"lock.tll", "1s", `lock: unknown key "tll"; did you mean "ttl"?`, false},
		{"lock.quorum", "9", "lock: quorum 9 of 5 nodes", true},
	} {
		f, err := jump(t).With(variant.Setting{Path: c.path, Word: c.word})
		if err == nil {
			_, err = f.Scenario()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, new(*variant.Refused)) != c.isRefused {
			t.Errorf("%s=%s: %v, want %s", c.path, c.word, err, c.want)
		}
	}
}
