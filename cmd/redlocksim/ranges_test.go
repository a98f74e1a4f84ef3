package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every numeric flag has a range, and whatever is outside of it is bad usage before anything begins.
func TestNumericFlagsHaveRanges(t *testing.T) {
	used := map[string]bool{}
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := cmd.Name() + " --" + f.Name
			if f.Name == "seed" || !isNumeric(f) {
				return
			}
			within, ok := ranges[name]
			if !ok {
				t.Errorf("%s has no range", name)
				return
			}
			used[name] = true
			text := func(value int64) string {
				if f.Value.Type() == "duration" {
					return fmt.Sprintf("%dns", value)
				}
				return fmt.Sprint(value)
			}
			absurd := []string{text(math.MinInt64), text(math.MaxInt64), text(within.from - 1), text(within.to + 1),
				"99999999999999999999999", "1e99", "NaN", "x", ""}
			for _, text := range absurd {
				var stdout, stderr bytes.Buffer
				if code := run([]string{cmd.Name(), "--" + f.Name + "=" + text}, &stdout, &stderr); code != exitUsage || stdout.Len() > 0 {
					t.Errorf("%s=%s: exit code %d, want %d\n%s%s", name, text, code, exitUsage, &stdout, &stderr)
				} else if !strings.Contains(stderr.String(), "--"+f.Name) {
					t.Errorf("%s=%s: the error does not name the flag: %s", name, text, &stderr)
				}
			}
			for _, end := range []int64{within.from, within.to} {
				if err := f.Value.Set(text(end)); err != nil {
					t.Errorf("%s=%s: %v", name, text(end), err)
				}
			}
		})
	}
	for name := range ranges {
		if !used[name] {
			t.Errorf("there is a range for %s, and no such flag", name)
		}
	}
}
