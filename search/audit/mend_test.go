package audit

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// A fix is written under the keys that a file has, and drops what the file would refuse beside it.
func TestFixesAreOfTheFile(t *testing.T) {
	for _, c := range []struct {
		file, line string
		drop, set  []string
	}{
		{"library: redsync\nttl: 8s\nrestart-delay: 5s", "killed process", nil, []string{"restart-delay: 7.924s"}},
		{"lock: {preset: redsync, ttl: 8s}\nbudget: {restart-delay: 5s}", "killed process", nil, []string{"budget: {restart-delay: 7.924s}"}},
		{"lock: {preset: redsync}\nttl: 8s\nnodes: {names: [A, B, C], persistence: none}", "killed process", nil, []string{"nodes: {persistence: everysec}"}},
		{"lock: {preset: redsync, ttl: 8s}\npause: 9s\nstorage: register", "pause", []string{"lock"}, []string{"library: redlock", "ttl: 8s", "lock: {fencing: true}", "storage: fenced"}},
		{"library: redsync\nttl: 8s\npause: 9s", "pause", nil, []string{"library: redlock", "lock: {fencing: true}", "fencing: true"}},
		// The library that takes the place of another may have another TTL.
		{"library: redsync\npause: 9s", "pause", nil, []string{"library: redlock", "ttl: 8s", "lock: {fencing: true}", "fencing: true"}},
		{"lock: {preset: redsync, node-timeout: 20ms}\nnetwork: {latency: {min: 5ms, max: 30ms}, replies: 0s}", "node timeout", nil, []string{"network: {latency: 19ms, replies: 0s}"}},
	} {
		x := lineOf(t, c.file, c.line)
		if !slices.ContainsFunc(x.Fixes, func(f Fix) bool { return slices.Equal(f.Drop, c.drop) && slices.Equal(f.Set, c.set) }) {
			t.Errorf("%s\n%s: %+v, want %v and without %v", c.file, c.line, x.Fixes, c.set, c.drop)
		}
		for _, f := range x.Fixes {
			if _, err := parse(t, c.file).With(f); err != nil {
				t.Errorf("%s\nthe file refuses %+v: %v", c.file, f, err)
			}
		}
	}
}

// What a lock program does not say that it reads is no fix, and is said to be unknown.
func TestAProgramSaysWhatItReads(t *testing.T) {
	text := "clock-error: 0%\nrtt: 0s\nnodes: 3\nbudget: {memory-loss: 1}\nlock: {ttl: 8s}"
	library, _ := protocols.Find("redlock")
	for _, reads := range []bool{true, false} {
		foreign := &scenarios.Foreign{New: library.New, Reads: func(string) bool { return reads }}
		out, err := Of(t.Context(), parse(t, "library: mine.wasm\n"+text), Options{Foreign: foreign})
		if err != nil {
			t.Fatal(err)
		}
		x := out.line("killed process")
		if has := strings.Contains(x.Fix, "lock.guard"); x.Verdict != Unsafe || has != reads {
			t.Errorf("reads %v: %+v", reads, x)
		}
		x = out.line("lost memory")
		if has := strings.Contains(x.Fix, "lock.quorum"); x.Verdict != Unsafe || has != reads {
			t.Errorf("reads %v: %+v", reads, x)
		}
	}
}

// A fix is tried on as many nodes as the program is for.
func TestFixesOfAProgramOnOneNode(t *testing.T) {
	single, _ := protocols.Find("single")
	a := parse(t, "library: mine.wasm\nttl: 8s\npersistence: always\nclock-error: 3%\n")
	if err := a.OnOneNode(); err != nil {
		t.Fatal(err)
	}
	out, err := Of(t.Context(), a, Options{Foreign: &scenarios.Foreign{New: single.New, OneNode: true}})
	if err != nil {
		t.Fatal(err)
	}
	if x := out.line("clock error"); !strings.Contains(x.Fix, "keep clocks within 0.0") {
		t.Errorf("%+v", x)
	}
}

// What breaks only together names all that it takes, and nothing else.
func TestBlame(t *testing.T) {
	a := parse(t, "library: redsync\nttl: 8s\nrtt: 0s\nclock-error: 0.4%\nclock-step: 70ms\npause: 0s\nrestart-delay: 9s")
	x := auditing{ctx: t.Context(), answers: a, world: calm(a.Settings)}
	for _, l := range lines() {
		if slices.Contains([]string{"clock error", "clock step", "killed process"}, l.name) {
			x.holds(l)
		}
	}
	found := Assumption{Verdict: Safe}
	if err := x.together(&found); err != nil || found.Verdict != Unsafe || !strings.HasSuffix(found.Text, ": it takes clock error and clock step") {
		t.Error(found, err)
	}
}
