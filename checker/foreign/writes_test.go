package foreign

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A resource that compares tokens can have accepted writes in some order that their calls and returns allow, and in
// which no token falls: here all orders are tried.
func TestWritesAgreeWithEveryOrder(t *testing.T) {
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		type accepted struct{ token, call, ret int }
		var lines []string
		var all []accepted
		open := map[int]int{} // by process, the token of its write
		called := map[int]int{}
		for i := range rapid.IntRange(2, 12).Draw(t, "events") {
			process := rapid.IntRange(0, 2).Draw(t, "process")
			typ := "invoke"
			token, underWay := open[process]
			if underWay {
				typ = rapid.SampledFrom([]string{"ok", "ok", "ok", "ok", "fail", "info"}).Draw(t, "outcome")
				delete(open, process)
			} else {
				token = rapid.IntRange(-2, 2).Draw(t, "token")
				open[process], called[process] = token, i
			}
			lines = append(lines, fmt.Sprintf(`{"process":%d,"type":%q,"f":"write","token":%d}`, process, typ, token))
			if typ == "ok" {
				all = append(all, accepted{token, called[process], i})
			}
		}
		var possible func(left []accepted, highest int) bool
		possible = func(left []accepted, highest int) bool {
			for i, w := range left {
				first := !slices.ContainsFunc(left, func(o accepted) bool { return o.ret < w.call })
				if first && w.token >= highest && possible(slices.Delete(slices.Clone(left), i, i+1), w.token) {
					return true
				}
			}
			return len(left) == 0
		}
		want := possible(all, -2)
		r, err := check(strings.NewReader(strings.Join(lines, "\n")), Options{Model: Fenced})
		if err != nil || r.Good() != want {
			t.Fatalf("%+v, %v; want good %t", r, err, want)
		}
		verdicts[r.Good()]++
	})
	if len(verdicts) < 2 && !testing.Short() {
		t.Errorf("only one verdict: %v", verdicts)
	}
}
