package foreign

import (
	"encoding/json"
	"math/bits"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
)

// More histories: go test ./checker/foreign -run Agree -rapid.checks=100000

// histories draws histories of a model.
func histories(m Model) *rapid.Generator[[]drawnLine] {
	return rapid.Custom(func(t *rapid.T) []drawnLine {
		return draw(m, func(n int, what string) int {
			// Every number as often; rapid's own ranges prefer small ones.
			width := bits.Len(uint(n-1)) + 3
			number := 0
			for range width {
				number *= 2
				if rapid.Bool().Draw(t, what) {
					number++
				}
			}
			return number * n >> width
		})
	})
}

func written(lines []drawnLine) string {
	var b strings.Builder
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// kinds are all that histories are drawn for.
func kinds() []Model { return append(Models(), fencedLease) }

func optionsOf(m Model) Options {
	o := Options{Model: m, Unit: time.Nanosecond}
	if m == fencedLease {
		o.Model = Fenced
	}
	if m == Lease || m == fencedLease {
		o.Lease = drawnLease
	}
	return o
}

func TestCheckAgreesWithTheDefinition(t *testing.T) {
	for _, m := range kinds() {
		t.Run(string(m), func(t *testing.T) {
			verdicts, rules, missed := map[bool]int{}, map[string]int{}, 0
			judge := func(t rapid.TB, lines []drawnLine) {
				r, err := check(strings.NewReader(written(lines)), optionsOf(m))
				if err != nil {
					t.Fatalf("%v\n%s", err, written(lines))
				}
				want := definition(m, lines, "r") && definition(m, lines, "s")
				if m == ReentrantFenced && r.Good() && !want {
					missed++ // tokens that tell what became of an operation of unknown outcome
				} else if r.Good() != want {
					t.Fatalf("good %t, by definition %t\n%s", r.Good(), want, written(lines))
				}
				verdicts[r.Good()]++
				for _, f := range r.Findings {
					rules[string(f.Kind)]++
				}
			}
			rapid.Check(t, func(t *rapid.T) { judge(t, histories(m).Draw(t, "history")) })
			// The few that -short draws may all have the same verdict. These are the same every time.
			for seed := 0; seed < 1000 && len(verdicts) < 2; seed++ {
				judge(t, histories(m).Example(seed))
			}
			t.Logf("%d good, %d bad: %v", verdicts[true], verdicts[false], rules)
			if missed > max(2, verdicts[false]/20) {
				t.Errorf("missed %d of %d", missed, missed+verdicts[false])
			}
			if len(verdicts) < 2 {
				t.Errorf("only one verdict ever: %v", verdicts)
			}
		})
	}
}
