package reports_test

import (
	"strings"
	"testing"
	"time"

	"redlocksim/reports"
)

// What is not as expected stands out, on whichever tier it was.
func TestThemes(t *testing.T) {
	cases := []reports.Case{
		{Name: "a", Tier: "model", Theme: "clocks", OK: true, Word: "breaks"},
		{Name: "a", Tier: "wire", Theme: "clocks", OK: true, Word: "breaks"},
		{Name: "b", Tier: "model", Theme: "clocks", OK: true, Word: "holds"},
		{Name: "e", Tier: "model", Theme: "clocks", OK: true, Word: "stuck"},
		{Name: "c", Tier: "wire", Theme: "restarts", Problems: []string{"found two holders (lease-overlap), expected holds"}, Repeat: "redlocksim run c"},
		{Name: "d", Tier: "wire", Theme: "restarts", Skipped: "no time"},
	}
	var b strings.Builder
	if err := reports.Themes(&b, cases, time.Second, reports.Look{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Clocks that jump, drift or stop                 1 hold    2 do not, as expected\n",
		"Nodes that come back without their memory       0 hold    0 do not, as expected  1 NOT AS EXPECTED\n",
		"c on wire: found two holders (lease-overlap), expected holds\n  repeat: redlocksim run c\n",
		"5 runs, 4 as expected, 1 not, 1s\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "all as expected") {
		t.Error(b.String())
	}
}
