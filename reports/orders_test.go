package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/search/dpor"
)

// A fault that was never injected is said to be not tested; where there is none, nothing is said of it.
func TestOrdersWithoutTheFault(t *testing.T) {
	for fault, want := range map[string]bool{dpor.NoFault: false, "kill": true} {
		var b strings.Builder
		err := reports.WriteOrders(&b, []*dpor.World{{Name: "a world", Fault: fault, Levels: []*dpor.Result{{Runs: 3}}}})
		if err != nil || strings.Contains(b.String(), "not tested with the fault: it was never injected\n") != want {
			t.Errorf("%s: %v, %s", fault, err, &b)
		}
	}
}
