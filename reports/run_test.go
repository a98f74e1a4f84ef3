package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// A witness has all that went wrong before it, in its order: what a client did when it was started again goes back to its
// crash.
func TestCausesOfAViolation(t *testing.T) {
	s := scenariotest.Named(t, "105-restarted-client/late-release-by-name")
	r := scenariotest.Judged(t, s, scenarios.Options{})
	var b strings.Builder
	if err := reports.Run(&b, r, "", false); err != nil {
		t.Fatal(err)
	}
	_, causes, _ := strings.Cut(b.String(), "faults ")
	crash, again := strings.Index(causes, "s: client-1 crashes\n"), strings.Index(causes, "s: client-1 is started again 500ms after its crash\n")
	if crash < 0 || again < crash {
		t.Errorf("the crash is not before the restart in:\n%s", causes)
	}
}
