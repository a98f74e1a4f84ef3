package foreign

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/internal/lockhistories"
	_ "redlocksim/internal/nofailfile"
)

// More histories: go test ./checker/foreign -run Agree -rapid.checks=100000

// histories draws histories of a model.
func histories(m Model) *rapid.Generator[[]lockhistories.Line] {
	return rapid.Custom(func(t *rapid.T) []lockhistories.Line {
		return lockhistories.Draw(string(m), func(n int, what string) int {
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

func written(lines []lockhistories.Line) string {
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

func optionsOf(m Model) Options {
	o := Options{Model: m}
	if m == Lease {
		o.Lease = lockhistories.Lease
	}
	return o
}

// Check itself compares its two opinions, and returns an error if they differ.
func TestBothOpinionsAgreeWithTheDefinition(t *testing.T) {
	for _, m := range Models() {
		t.Run(string(m), func(t *testing.T) {
			verdicts, rules := map[bool]int{}, map[string]int{}
			judge := func(t rapid.TB, lines []lockhistories.Line) *Report {
				r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
				if err != nil {
					t.Fatalf("%v\n%s", err, written(lines))
				}
				if want := definition(m, lines, "r") && definition(m, lines, "s"); r.Good() != want {
					t.Fatalf("good %t, by definition %t\n%s", r.Good(), want, written(lines))
				}
				verdicts[r.Good()]++
				for _, f := range r.Findings {
					rules[string(f.Kind)]++
				}
				return r
			}
			rapid.Check(t, func(t *rapid.T) {
				if r := judge(t, histories(m).Draw(t, "history")); r.Confirmed != r.Locks {
					t.Fatalf("%d of %d locks: %s", r.Confirmed, r.Locks, r.Unconfirmed)
				}
			})
			// The few that -short draws may all have the same verdict. These are the same every time.
			for seed := 0; seed < 1000 && len(verdicts) < 2; seed++ {
				judge(t, histories(m).Example(seed))
			}
			t.Logf("%d good, %d bad: %v", verdicts[true], verdicts[false], rules)
			if len(verdicts) < 2 {
				t.Errorf("only one verdict ever: %v", verdicts)
			}
		})
	}
}

// Every history that a lock which works can record is good.
func TestALockThatWorksIsGood(t *testing.T) {
	const cycles = 300
	for _, m := range Models() {
		var lines []lockhistories.Line
		for i := range cycles {
			token := int64(i)
			for _, fn := range []string{"acquire", "extend", "release"} {
				l := lockhistories.Line{Process: fmt.Sprint(i % 3), Type: "invoke", Func: fn, Lock: "r", Time: int64(len(lines))}
				lines = append(lines, l)
				l.Type = "ok"
				if fn == "acquire" {
					l.Token = &token
				}
				lines = append(lines, l)
			}
		}
		for i := range lines {
			lines[i].Index = i
		}
		r, err := Check(strings.NewReader(written(lines)), optionsOf(m))
		if err != nil || !r.Good() || r.Grants != cycles || r.Confirmed != 1 {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
}
