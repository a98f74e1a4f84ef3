package locktest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"redlocksim/internal/quorum"
	"redlocksim/locktest"
)

// plan is the file of an experiment with messages that take no time.
func plan(settings, budget string, timeline ...string) string {
	return fmt.Sprintf(`title: p
source: p
explanation: p
claim: holds
clients: [client-1, client-2]
network: {latency: 0s}
duration: 60s
expect: {findings: safe, unavailable: {at-most: 60s}}
%s
budget: {%s}
timeline:
  - %s
`, settings, budget, strings.Join(timeline, "\n  - "))
}

// Where settings bear just what is assumed, nothing that is drawn breaks the lock, tight schedules included. That a step less
// breaks it is what search/sweep shows of every formula, and TestADefectIsFound of the experiments.
func TestSafeAtTheBound(t *testing.T) {
	// A time to live of a whole number of 100 ms, so that 1 % of it is a whole number of milliseconds.
	ttls := rapid.Map(rapid.IntRange(5, 150), func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond })
	for name, draw := range map[string]func(*rapid.T) locktest.Setup{
		"restart": func(t *rapid.T) locktest.Setup {
			ttl := ttls.Draw(t, "ttl")
			return locktest.Setup{Settings: fmt.Sprintf("lock: {ttl: %v, drift: {factor: 1%%, constant: 2ms}}", ttl),
				Assume: locktest.Assumptions{RestartDelay: ttl - ttl/100 - 2*time.Millisecond}}
		},
		"drift": func(t *rapid.T) locktest.Setup {
			ttl, rate := ttls.Draw(t, "ttl"), rapid.Int64Range(1, 200).Draw(t, "rate") // in thousandths
			one, wrong := decimal.New(1, 0), decimal.New(rate, -3)
			share := one.Sub(one.Sub(wrong).Div(one.Add(wrong)))
			allowance := decimal.NewFromInt(ttl.Milliseconds()).Mul(share).Ceil()
			return locktest.Setup{Settings: fmt.Sprintf("lock: {ttl: %v, drift: {factor: 0%%, constant: %sms}}", ttl, allowance),
				Assume: locktest.Assumptions{ClockRate: wrong.String()}}
		},
		// A client that holds at least q of N nodes is safe from a second quorum until 2q − N of them have lost the key.
		"quorum": func(t *rapid.T) locktest.Setup {
			n := rapid.IntRange(3, 7).Draw(t, "nodes")
			q := rapid.IntRange(quorum.Majority(n), n).Draw(t, "quorum")
			return locktest.Setup{Settings: fmt.Sprintf("lock: {ttl: 2s, quorum: %d}\nnodes: {names: [%s]}", q, strings.Join(strings.Split("ABCDEFG", "")[:n], ", ")),
				Assume: locktest.Assumptions{MemoryLoss: 2*q - n - 1}}
		},
		"pause": func(t *rapid.T) locktest.Setup {
			// More would leave nothing of the lease.
			pause := time.Duration(rapid.IntRange(1, 1500).Draw(t, "pause")) * time.Millisecond
			return locktest.Setup{Settings: fmt.Sprintf("lock: {ttl: 2s, guard-time: %v}", pause), Assume: locktest.Assumptions{Pause: pause}}
		},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			locktest.MutualExclusion(t, locktest.Experiments(t, draw(t)).Draw(t, "experiment"))
		}))
	}
}
