package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
)

// panics is the library, but that the client panics which is the number-th to be made; made counts them.
func panics(number int, made *int) *scenarios.Foreign {
	library, _ := protocols.Find("redlock")
	return &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		if *made++; *made == number {
			panic("at sea")
		}
		return library.New(env)
	}}
}

// Whichever run of an audit panics, all lines are judged. The one whose run it is was not tested, or is unsafe as before and
// says what its fixes lack; or the run was one that decides nothing.
func TestARunThatFails(t *testing.T) {
	t.Parallel()
	const text = "library: mine.wasm\nttl: 8s\npersistence: always\npause: 800ms\n"
	clients := 0
	want, err := Of(t.Context(), parse(t, text), Options{Foreign: panics(0, &clients)})
	if err != nil || want.Failed > 0 {
		t.Fatal(err, want.Failures)
	}
	told := map[string]int{}
	for number := 1; number <= clients; number += max(1, clients/6) {
		made := 0
		got, err := Of(t.Context(), parse(t, text), Options{Foreign: panics(number, &made), Repeat: "redlocksim audit ours.yaml"})
		if err != nil || got.Failed != 1 || len(got.Assumptions) != len(want.Assumptions) {
			t.Fatalf("client %d of %d: %v, %+v", number, clients, err, got)
		}
		if f := got.Failures.Failures[0]; !strings.HasSuffix(f.Line(), "panic: at sea") || f.Repeat("", "") != "redlocksim audit ours.yaml" {
			t.Errorf("client %d: %+v", number, f)
		}
		for i, x := range got.Assumptions {
			y := want.Assumptions[i]
			isTold := strings.Contains(x.Text+x.Fix, "panic: at sea")
			if isTold {
				told[string(x.Verdict)]++
			}
			if x.Verdict != y.Verdict && (x.Verdict != NotTested || !isTold) {
				t.Errorf("client %d: %s is %s: %s, want %s", number, x.Name, x.Verdict, x.Text, y.Verdict)
			}
		}
		var page strings.Builder
		if err := got.WriteText(&page, nil); err != nil || !strings.Contains(page.String(), "a run FAILED") {
			t.Errorf("client %d: %v\n%s", number, err, &page)
		}
	}
	if told[string(NotTested)] == 0 {
		t.Errorf("no line was not tested for a panic: %v", told)
	}
}

// What is unsafe stays so if a run of its fixes fails, and no interrupt is a failure.
func TestSafely(t *testing.T) {
	var all search.Failures
	x := auditing{ctx: t.Context(), failures: &all}
	found, err := x.safely("a", func(found *Assumption) error {
		found.Verdict, found.Text = Unsafe, "it breaks"
		return errors.New("at sea")
	})
	if err != nil || found.Verdict != Unsafe || found.Text != "it breaks" || found.Fix != "a run failed: at sea" || all.Failed != 1 {
		t.Errorf("%+v, %v, %+v", found, err, all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	x.ctx = ctx
	if _, err := x.safely("a", func(*Assumption) error { cancel(); return fmt.Errorf("run: %w", ctx.Err()) }); err == nil || all.Failed != 1 {
		t.Errorf("an interrupted line ends with %v, %+v", err, all)
	}
}
