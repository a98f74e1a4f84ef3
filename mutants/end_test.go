package mutants

import (
	"fmt"
	"testing"
	"time"

	"redlocksim/internal/exitcode"
)

// How a process ended says whether the bug was seen: a run that shows nothing has not, one that comes to no verdict has, and
// one that was called wrongly is an error.
func TestHowAProcessEnded(t *testing.T) {
	for _, c := range []struct {
		script string
		want   end
	}{
		{"exit 0", end{}},
		{fmt.Sprintf("echo 7; exit %d", exitcode.Safety), end{isRed: true, printed: "7\n"}},
		{fmt.Sprintf("exit %d", exitcode.Liveness), end{isRed: true}},
		{fmt.Sprintf("exit %d", exitcode.NotTested), end{}},
		{fmt.Sprintf("exit %d", exitcode.NotRepeated), end{isRed: true, how: "does not repeat itself"}},
		{fmt.Sprintf("exit %d", exitcode.Internal), end{isRed: true, how: "ends without a verdict"}},
		{fmt.Sprintf("echo 'goroutine 1 [running]' >&2; exit %d", exitPanic), end{isRed: true, how: "panics"}},
	} {
		if got, err := endWithin(t.Context(), time.Minute, "", "/bin/sh", "-c", c.script); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.script, got, err, c.want)
		}
	}
	if got, err := endWithin(t.Context(), time.Minute, "", "/bin/sh", "-c", "exit 64"); err == nil {
		t.Errorf("wrong arguments are %+v", got)
	}
}
