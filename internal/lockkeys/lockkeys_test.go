package lockkeys_test

import (
	"testing"

	"redlocksim/internal/lockkeys"
)

func TestOf(t *testing.T) {
	resources := []string{"R", "orders/7", "a.b"}
	for _, c := range []struct{ pattern, key, want string }{
		{"{resource}", "R", "R"},
		{"{resource}", "RR", ""},
		{"{resource}", "a.b", "a.b"},
		{"{resource}", "axb", ""},
		{"lock:{resource}", "lock:orders/7", "orders/7"},
		{"lock:{resource}", "orders/7", ""},
		{"lock:*:{resource}", "lock:12:R", "R"},
		{"lock:*:{resource}", "lock:12:R:fence", ""},
		{"*{resource}*", "x\nRy", "R"},
	} {
		if got, is := lockkeys.Of([]string{c.pattern}, resources).Of(c.key); got != c.want || is != (c.want != "") {
			t.Errorf("%q by %q: %q, want %q", c.key, c.pattern, got, c.want)
		}
	}
	for key, want := range map[string]string{"a.b": "a.b", "axb": ""} {
		if got, _ := lockkeys.Of(nil, resources).Of(key); got != want {
			t.Errorf("%q without patterns: %q, want %q", key, got, want)
		}
	}
}
