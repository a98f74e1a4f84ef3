package audit

import (
	"errors"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Work may take longer than the TTL of a lock that is renewed, as libraries do by themselves or their callers; however long it
// takes, one that is not comes with the hint to renew it, unless the library cannot.
func TestRenews(t *testing.T) {
	t.Parallel()
	const hint = "renew the lock while the work goes on"
	for _, c := range []struct {
		answers string
		verdict Verdict
		hinted  bool
	}{
		{"library: redlock\nttl: 10s\nwork: 5m", Unsafe, true},
		{"library: redlock\nttl: 10s\nwork: 11s", Unsafe, true},
		{"library: redlock\nttl: 10s\nwork: 5h", Unsafe, true},
		{"library: redlock\nttl: 10s\nwork: 5m\nrenews: true", Safe, false},
		// The library renews 1000 times and for an hour at the most, unless it is told more.
		{"library: redlock\nttl: 10s\nwork: 55m\nrenews: true", Safe, false},
		{"library: redlock\nttl: 10s\nwork: 61m\nrenews: true", Unsafe, true},
		{"library: redlock\nttl: 60s\nwork: 61m\nrenews: true\nlock: {renewals: 200}", Safe, false},
		{"library: single\nttl: 30s\nwork: 5m", Unsafe, true},
		{"library: single\nttl: 30s\nwork: 5m\nrenews: true", Safe, false},
		{"library: redsync\nwork: 5m", Unsafe, true},
		{"library: redsync\nwork: 5m\nrenews: true", Safe, false},
		{"library: redisson\nwork: 5m", Safe, false},
		{"library: redisson\nwork: 5m\nrenews: false", Unsafe, true},
		{"library: redisson-multi\nwork: 5m", Safe, false},
		{"library: redlock-net\nwork: 5m", Safe, false},
		{"library: redlock-py\nwork: 5m", Unsafe, false},
	} {
		x := lineOf(t, c.answers+"\npersistence: always\n", "work")
		if x.Verdict != c.verdict || strings.Contains(x.Fix, hint) != c.hinted {
			t.Errorf("%s: %s, %s\nfix: %s", c.answers, x.Verdict, x.Text, x.Fix)
		}
	}
}

// What is safe was tried: no line says that it holds with what was answered and that less was the most that was tried.
func TestSafeIsNotBeyondWhatWasTried(t *testing.T) {
	x := lineOf(t, "library: redisson\nwork: 5m\n", "work")
	if want := "the lock lasts for work of 5m0s, the longest that was tried"; x.Verdict != Safe || !strings.HasPrefix(x.Text, want) {
		t.Errorf("%s: %s", x.Verdict, x.Text)
	}
	x = lineOf(t, "ttl: 1s\npersistence: always\nfencing: true\npause: 10s\n", "pause")
	if want := "a client may pause for 10s, the longest that was tried"; x.Verdict != Safe || !strings.HasPrefix(x.Text, want) {
		t.Errorf("%s: %s", x.Verdict, x.Text)
	}
}

// Who says that a lock is renewed that cannot be, or not renewed that always is, is told so.
func TestCannotRenew(t *testing.T) {
	for text, want := range map[string]string{
		"library: redlock-py\nrenews: true":                       "ours.yaml:2:9: renews: redlock-py cannot extend a lock",
		"library: redlock-net\nrenews: false":                     "ours.yaml:2:9: renews: redlock-net renews its locks, and cannot be told not to",
		"library: redisson\nrenews: maybe":                        "ours.yaml:2:9: renews: ",
		"lock: {preset: redisson, watchdog: false}\nrenews: true": "ours.yaml:2:9: renews: lock.watchdog says the same",
		"library: redisson\nnodes: 5":                             "ours.yaml:2:8: nodes: redisson is a lock on one Redis, and this says that there are 5: leave nodes out, or say 1; the lock of Redisson on several is library: redisson-multi",
	} {
		if _, err := Parse("ours.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	single, _ := protocols.Find("single")
	for text, foreign := range map[string]*scenarios.Foreign{
		"renews: true":  {New: single.New, Unable: func(*scenarios.Scenario) error { return errors.New("it cannot") }},
		"renews: false": {New: single.New, Renews: true},
	} {
		if _, err := Of(t.Context(), parse(t, "library: mine.wasm\n"+text), Options{Foreign: foreign}); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The settings of a file keep their meaning, and a note says which of Redisson's locks they are.
func TestRedisson(t *testing.T) {
	for text, want := range map[string]struct {
		library string
		nodes   int
		ttl     float64
	}{
		"library: redisson":                  {"redisson", 1, 30},
		"library: redisson\nttl: 7s":         {"redisson", 1, 7},
		"library: redisson-multi":            {"redisson-multi", 5, 30},
		"lock: {preset: redisson}":           {"redisson-multi", 5, 30},
		"lock: {preset: redisson, ttl: 10s}": {"redisson-multi", 5, 10},
		"lock: {protocol: redisson}":         {"redisson", 1, 10},
	} {
		a := parse(t, text+"\n")
		if s := a.Settings; a.Library != want.library || len(s.Nodes.Names) != want.nodes || s.Lock.TTL.Seconds() != want.ttl || !strings.Contains(strings.Join(a.Assumed, "\n"), "RedissonRedLock") {
			t.Errorf("%s: %s, %d nodes, TTL %v, %q", text, a.Library, len(s.Nodes.Names), s.Lock.TTL, a.Assumed)
		}
	}
}
