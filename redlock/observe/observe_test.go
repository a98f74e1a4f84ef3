package observe

import (
	"context"
	"strings"
	"testing"
)

func TestStepNames(t *testing.T) {
	var names []string
	for _, s := range Steps() {
		names = append(names, s.String())
	}
	const want = "attempt-started node-answered quorum-reached quorum-lost token-raised validity-computed granted denied retrying gave-up extend-started " +
		"extended not-extended lost release-started released joined taken-back queued yielding gate-asked"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for s, want := range map[Step]string{0: "Step(0)", GateAsked + 1: "Step(22)"} {
		if s.String() != want {
			t.Errorf("%d is %q", s, s)
		}
	}
}

type notes struct {
	name string
	into *[]string
}

func (n notes) Observe(_ context.Context, e Event) {
	*n.into = append(*n.into, n.name+" "+e.Step.String())
}

// Each of several observers is told of every step, one after the other.
func TestAll(t *testing.T) {
	var told []string
	all := All(notes{"first", &told}, nil, All(), notes{"second", &told})
	all.Observe(t.Context(), Event{Step: Granted})
	all.Observe(t.Context(), Event{Step: Released})
	const want = "first granted, second granted, first released, second released"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
