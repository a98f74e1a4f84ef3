package main

import (
	"bytes"
	"strings"
	"testing"

	"redlocksim/checker/foreign"
	"redlocksim/internal/lockhistories"
)

func TestHalfAMillionInSmall(t *testing.T) {
	for _, m := range append(foreign.Models(), lockhistories.FencedLease) {
		var histories, again, verdicts bytes.Buffer
		args := []string{"-model", string(m), "-count", "2000", "-seed", "1"}
		for _, out := range []*bytes.Buffer{&histories, &again} {
			if err := run(append([]string{"draw"}, args...), nil, out); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(histories.Bytes(), again.Bytes()) {
			t.Errorf("%s: the same seed draws other histories", m)
		}
		if err := run([]string{"judge", "-model", string(m)}, &histories, &verdicts); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for line := range strings.Lines(verdicts.String()) {
			counts[strings.TrimSpace(line)]++
		}
		if counts["good"] < 200 || counts["bad"] < 200 || counts["good"]+counts["bad"] != 2000 {
			t.Errorf("%s: %v", m, counts)
		}
	}
}

func TestWhatIsNotAskedFor(t *testing.T) {
	for _, args := range [][]string{nil, {"look"}, {"draw", "-model", "mutx"}, {"judge", "-count", "x"}} {
		if err := run(args, strings.NewReader(""), &bytes.Buffer{}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
