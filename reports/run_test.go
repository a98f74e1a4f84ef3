package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// A witness has all that went wrong before it, in its order: what a client did when it was started again goes back to its
// crash.
func TestCausesOfAViolation(t *testing.T) {
	s, _ := scenarios.Find("105-restarted-client/late-release-by-name")
	r, err := verdict.Judge(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
