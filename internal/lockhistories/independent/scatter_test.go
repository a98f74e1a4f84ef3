package independent

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// scatter draws a short history of no server: calls, outcomes, times and tokens are random. Some times and tokens are at
// the bounds of 64-bit numbers.
func scatter(random *rand.Rand, tokens bool) []event {
	var (
		events  []event
		now     = []int64{0, 0, 0, math.MaxInt64 - 18}[random.IntN(4)]
		token   = big.NewInt([]int64{0, -4, math.MinInt64, math.MaxInt64 - 4}[random.IntN(4)])
		calls   = map[string]*event{}
		has     = map[string]bool{} // who may believe that it holds the lock
		outcome = [][]string{{"ok"}, {"ok", "ok", "ok", "info"}, {"ok", "info"}, {"ok", "ok", "info", "fail"}}[random.IntN(4)]
	)
	processes := []string{"A", "B", "C"}[:2+random.IntN(2)]
	for range 4 + random.IntN(17) {
		if pause := []int64{0, 0, 0, 1, 1, 2, 5, 6, 7}[random.IntN(9)]; pause <= math.MaxInt64-now {
			now += pause
		}
		process := processes[random.IntN(len(processes))]
		e := event{Process: process, Time: now, Index: len(events)}
		if call := calls[process]; call == nil {
			words := []string{"acquire", "acquire", "acquire", "acquire", "release", "extend"}
			if has[process] {
				words = []string{"acquire", "release", "release", "release", "release", "extend"}
			}
			e.Type, e.Func, e.Lock = "invoke", words[random.IntN(len(words))], "rrrrrrrs"[random.IntN(8):][:1]
			calls[process] = &e
		} else {
			e.Type, e.Func, e.Lock = outcome[random.IntN(len(outcome))], call.Func, call.Lock
			delete(calls, process)
			if e.Type == "ok" && e.Func != "extend" || e.Type == "info" && e.Func == "acquire" {
				has[process] = e.Func == "acquire"
			}
			if tokens && e.Func == "acquire" && e.Type == "ok" {
				next := new(big.Int).Add(token, big.NewInt([]int64{-1, 0, 0, 1, 1, 1, 1, 2, 2, 3}[random.IntN(10)]))
				if next.IsInt64() {
					token = next
				}
				if e.Value = token; random.IntN(4) == 0 {
					e.Value = big.NewInt(-1)
				}
			}
		}
		events = append(events, e)
	}
	return events
}
