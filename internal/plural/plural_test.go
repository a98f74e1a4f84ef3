package plural

import "testing"

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 runs": Count(0, "run"), "1 run": Count(1, "run"), "2 runs": Count(2, "run"), "1 process": Count(1, "process"), "2 processes": Count(2, "process"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
