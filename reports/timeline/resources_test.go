package timeline

import (
	"bytes"
	"strings"
	"testing"
)

// TestEachResourceHasItsRow: where a run has several, what is on one is never drawn over what is on another.
func TestEachResourceHasItsRow(t *testing.T) {
	_, line := drawn(t, "69-two-locks/one-breaks")
	for _, l := range line.Lanes {
		rows := map[int]string{}
		for _, s := range l.Spans {
			switch s.Kind {
			case Asking, Believed, Granted, Key:
				if s.Resource == "" {
					t.Errorf("%s: %s is on no resource", l.Name, s.Text)
				}
				if on, ok := rows[s.Row]; ok && on != s.Resource {
					t.Errorf("%s: row %d has %s and %s", l.Name, s.Row, on, s.Resource)
				}
				rows[s.Row] = s.Resource
			}
		}
	}
	var b bytes.Buffer
	if err := WriteText(&b, line, 80); err != nil {
		t.Fatal(err)
	}
	// The violation is on the invoices, of clients 1 and 2.
	marked := map[string]bool{}
	lane := ""
	for _, text := range strings.Split(b.String(), "\n") {
		if !strings.HasPrefix(text, " ") {
			lane, _, _ = strings.Cut(text, " ")
		} else if name, _, _ := strings.Cut(strings.TrimSpace(text), " "); strings.Contains(text, string(signBoth)+string(signBoth)) {
			marked[lane+" "+name] = true
		}
	}
	if len(marked) != 2 || !marked["client-1 invoices"] || !marked["client-2 invoices"] {
		t.Errorf("marked: %v\n%s", marked, &b)
	}
	if _, line := drawn(t, "17-clock-jump"); line.Resources != nil || strings.Contains(line.Lanes[0].Spans[0].Text, " on R") {
		t.Errorf("one resource is named: %v", line.Resources)
	}
}
