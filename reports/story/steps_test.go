package story

import (
	"testing"

	"redlocksim/faults"
	"redlocksim/sim/history"
)

// A call with a wrong argument is told with what becomes of it, which no scenario shows of a lock that accepts one.
func TestWrongArgumentsAreTold(t *testing.T) {
	for name, want := range map[string]string{
		faults.Refused:  "c1 calls extend with a TTL of 0s, and is refused",
		faults.Accepted: "c1 calls extend with a TTL of 0s, and is not refused",
	} {
		lines := Of(history.History{{Kind: history.Step, Name: name, Process: "c1", Resource: "R", Detail: "extend with a TTL of 0s"}})
		if len(lines) != 1 || lines[0].Text != want {
			t.Errorf("%v, want %q", lines, want)
		}
	}
}
