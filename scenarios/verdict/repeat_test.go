package verdict_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// A run that is not the same on the other tier is told of, with what clients are told on the one and not on the other.
func TestTiersThatDifferAreTold(t *testing.T) {
	s := scenariotest.Named(t, "09-contention")
	r := scenariotest.Judged(t, s, scenarios.Options{})
	if err := r.SameOn(scenarios.Wire); err != nil {
		t.Error(err)
	}
	granted := slices.IndexFunc(r.History, func(e history.Event) bool { return e.Kind == history.Return && e.Func == history.Acquire })
	was := r.History[granted]
	r.History[granted].Outcome, r.History[granted].Detail, r.History[granted].Span = history.Failed, "no quorum of nodes", 0
	err := r.SameOn(scenarios.Wire)
	want := fmt.Sprintf("on tier model at %v %s acquire-failed", time.Duration(was.Time), was.Process)
	if !errors.Is(err, verdict.ErrTiersDiffer) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "there is no verdict") {
		t.Errorf("got %v, want %q in it", err, want)
	}
	r.History[granted] = was
	r.History[granted].Time++ // too little to be seen, unless exactly
	if err := r.SameOn(scenarios.Wire); !errors.Is(err, verdict.ErrTiersDiffer) || !strings.Contains(err.Error(), time.Duration(was.Time).String()) {
		t.Errorf("got %v, want %v in it", err, time.Duration(was.Time))
	}
	r.History[granted].Time--
	r.Findings = scenarios.Findings{checker.Leftover}
	r.Monitored = []checker.Finding{{Kind: checker.Leftover, Text: "client-1 has left its key."}}
	if err, want := r.SameOn(scenarios.Wire), `on tier model the run ends with "leaks (leftover)" (client-1 has left its key), and on tier wire the run ends with "holds"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}
