package rounded_test

import (
	"testing"
	"time"

	"redlocksim/internal/rounded"
)

func TestDuration(t *testing.T) {
	for exact, want := range map[string]string{
		"0s": "0s", "7ns": "7ns", "999ns": "999ns", "1234ns": "1.23µs", "999.6µs": "1ms", "6.3ms": "6.3ms", "137.545ms": "138ms",
		"1.112321337s": "1.11s", "-216.647676ms": "-217ms", "9.8937s": "9.89s", "25.019844s": "25s", "59.96s": "1m0s",
		"1m58.4s": "1m58s", "1h0m1s": "1h0m1s",
	} {
		d, err := time.ParseDuration(exact)
		if err != nil {
			t.Fatal(err)
		}
		if got := rounded.Duration(d).String(); got != want {
			t.Errorf("%s is %s, want %s", exact, got, want)
		}
	}
}

// Names that look like a length of time stay as they are, and so does what is short already.
func TestText(t *testing.T) {
	for exact, want := range map[string]string{
		`both held "R" for 2s, from 1.112321337s.`:                         `both held "R" for 2s, from 1.11s.`,
		"B restarts with an empty memory, 2.3456789s after it stopped":     "B restarts with an empty memory, 2.35s after it stopped",
		"the clocks of A run 0.123456% fast; client-1 uses token 12345678": "the clocks of A run 0.123456% fast; client-1 uses token 12345678",
		"a clock step of -1m40.5s":                                         "a clock step of -1m41s",
		`"a 1.234567s" and "b\" 1.234567s" for 1.234567s`:                  `"a 1.234567s" and "b\" 1.234567s" for 1.23s`,
		`client-1.234567s\x1b[31m (31m) (1.234567s) 60s`:                   `client-1.234567s\x1b[31m (31m) (1.23s) 60s`,
		"node1s 5m2 x1.234567s":                                            "node1s 5m2 x1.234567s",
	} {
		if got := rounded.Text(exact); got != want {
			t.Errorf("%q became %q, want %q", exact, got, want)
		}
	}
}
