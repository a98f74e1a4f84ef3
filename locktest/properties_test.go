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

// Each property has two halves: at and above the bound nothing that is drawn breaks the lock, tight schedules included,
// and for every setting below it by a stated gap there is a plan within the assumptions that does. Those plans are written
// out, with messages that take no time, so that the gap is small.

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

func milliseconds(min, max int) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.IntRange(min, max), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
}

// cutOff leaves the holder the first n nodes.
func cutOff(names []string, n int) string {
	if n == len(names) {
		return "{at: 0s, fault: {partition: {clients: [client-1], nodes: [storage]}}}"
	}
	return fmt.Sprintf("{at: 0s, fault: {partition: {clients: [client-1], nodes: [%s], direction: requests}}}", strings.Join(names[n:], ", "))
}

// hold has client 1 hold the lock until its lease is over.
func hold(ttl time.Duration) string {
	return fmt.Sprintf("{at: 0s, client: client-1, do: [try-lock, sleep: %v]}", 2*ttl)
}

var five = []string{"A", "B", "C", "D", "E"}

// restartBound is the longest belief that rests on a vote cast before a crash: the time to live without the allowance,
// counted from the crash, since the holder's clock, which is right here, is read before the vote is cast.
func restartBound(ttl time.Duration) time.Duration { return ttl - ttl/100 - 2*time.Millisecond }

// A time to live of a whole number of 100 ms, so that 1 % of it is a whole number of milliseconds.
var ttls = rapid.Map(rapid.IntRange(5, 150), func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond })

// restart has the holder take a bare quorum, and one node of it come back empty.
func restart(ttl, delay time.Duration) string {
	return plan(
		fmt.Sprintf("lock: {ttl: %v, drift: {factor: 1%%, constant: 2ms}}", ttl), fmt.Sprintf("restart-delay: %v", delay),
		cutOff(five, 3), hold(ttl),
		fmt.Sprintf("{after: {event: acquire-done}, fault: {kill: {node: C, restart-after: %v}}}", delay),
		"{after: {event: restart}, client: client-2, do: [try-lock, sleep: 60s]}")
}

func TestDelayedRestart(t *testing.T) {
	t.Run("safe at the bound and above", rapid.MakeCheck(func(t *rapid.T) {
		ttl := ttls.Draw(t, "ttl")
		delay := restartBound(ttl) + rapid.OneOf(rapid.Just(time.Duration(0)), milliseconds(0, 2000)).Draw(t, "above the bound by")
		locktest.MutualExclusion(t, locktest.Parse(t, restart(ttl, delay), 0, nil))
		locktest.MutualExclusion(t, locktest.Experiments(t, locktest.Setup{
			Settings: fmt.Sprintf("lock: {ttl: %v, drift: {factor: 1%%, constant: 2ms}}", ttl),
			Assume:   locktest.Assumptions{RestartDelay: delay},
		}).Draw(t, "experiment"))
	}))
	t.Run("broken a millisecond below and more", rapid.MakeCheck(func(t *rapid.T) {
		ttl := ttls.Draw(t, "ttl")
		delay := restartBound(ttl) - milliseconds(1, int(restartBound(ttl)/time.Millisecond)-1).Draw(t, "below the bound by")
		locktest.Breaks(t, locktest.Parse(t, restart(ttl, delay), 0, nil))
	}))
}

// driftBound is TTL × (1 − (1−ρc)/(1+ρs)), rounded up to a millisecond, for rates in thousandths.
func driftBound(ttl time.Duration, client, server int64) time.Duration {
	one := decimal.New(1, 0)
	share := one.Sub(one.Sub(decimal.New(client, -3)).Div(one.Add(decimal.New(server, -3))))
	return time.Duration(decimal.NewFromInt(ttl.Milliseconds()).Mul(share).Ceil().IntPart()) * time.Millisecond
}

func driftSettings(ttl, allowance time.Duration) string {
	return fmt.Sprintf("lock: {ttl: %v, drift: {factor: 0%%, constant: %v}}", ttl, allowance)
}

// drift has a slow holder, fast nodes, and a rival that asks when these have just forgotten the keys.
func drift(ttl, allowance time.Duration, client, server int64) string {
	timeline := []string{hold(ttl), fmt.Sprintf("{at: 0s, fault: {clock-rate: {process: client-1, rate: -%s%%}}}", decimal.New(client, -1))}
	for _, node := range five {
		timeline = append(timeline, fmt.Sprintf("{at: 0s, fault: {clock-rate: {process: %s, rate: %s%%}}}", node, decimal.New(server, -1)))
	}
	free := decimal.NewFromInt(ttl.Milliseconds() + 1).Div(decimal.New(1000+server, -3)).Ceil()
	timeline = append(timeline, fmt.Sprintf("{at: %sms, client: client-2, do: [try-lock, sleep: 60s]}", free))
	return plan(driftSettings(ttl, allowance), fmt.Sprintf("clock-rate: %s%%", decimal.New(max(client, server), -1)), timeline...)
}

func TestDrift(t *testing.T) {
	rates := rapid.Int64Range(1, 200)
	t.Run("safe at the bound and above", rapid.MakeCheck(func(t *rapid.T) {
		ttl, rate := ttls.Draw(t, "ttl"), rates.Draw(t, "rate")
		allowance := driftBound(ttl, rate, rate) + rapid.OneOf(rapid.Just(time.Duration(0)), milliseconds(0, 100)).Draw(t, "above the bound by")
		locktest.MutualExclusion(t, locktest.Parse(t, drift(ttl, allowance, rate, rate), 0, nil))
		locktest.MutualExclusion(t, locktest.Experiments(t, locktest.Setup{
			Settings: driftSettings(ttl, allowance),
			Assume:   locktest.Assumptions{ClockRate: decimal.New(rate, -3).String()},
		}).Draw(t, "experiment"))
	}))
	// The bound is rounded up, by less than a millisecond; keys live for Redis' own millisecond more, and the rival asks at a
	// whole millisecond: three milliseconds together.
	t.Run("broken three milliseconds below and more", rapid.MakeCheck(func(t *rapid.T) {
		ttl, client, server := ttls.Draw(t, "ttl"), rates.Draw(t, "holder slow by"), rates.Draw(t, "nodes fast by")
		bound := driftBound(ttl, client, server)
		if bound < 3*time.Millisecond {
			t.Skip("no allowance is too small")
		}
		allowance := bound - milliseconds(3, int(bound/time.Millisecond)).Draw(t, "below the bound by")
		locktest.Breaks(t, locktest.Parse(t, drift(ttl, allowance, client, server), 0, nil))
	}))
}

// TestQuorumMargin: a client that holds k of N nodes is safe from a second quorum until f = k + q − N of them have lost
// the key.
func TestQuorumMargin(t *testing.T) {
	draw := func(t *rapid.T) (names []string, q int, settings string) {
		n := rapid.IntRange(3, 7).Draw(t, "nodes")
		names = strings.Split("ABCDEFG", "")[:n]
		q = rapid.IntRange(quorum.Majority(n), n).Draw(t, "quorum")
		return names, q, fmt.Sprintf("lock: {ttl: 2s, quorum: %d}\nnodes: {names: [%s]}", q, strings.Join(names, ", "))
	}
	t.Run("safe with one loss too few", rapid.MakeCheck(func(t *rapid.T) {
		names, q, settings := draw(t)
		locktest.MutualExclusion(t, locktest.Experiments(t, locktest.Setup{
			Settings: settings,
			Assume:   locktest.Assumptions{MemoryLoss: 2*q - len(names) - 1}, // k is q at the least
		}).Draw(t, "experiment"))
	}))
	t.Run("broken with enough", rapid.MakeCheck(func(t *rapid.T) {
		names, q, settings := draw(t)
		k := rapid.IntRange(q, len(names)).Draw(t, "held")
		lose := func(lost int) *locktest.Experiment {
			timeline := []string{cutOff(names, k), hold(2 * time.Second)}
			for _, node := range names[k-lost : k] {
				timeline = append(timeline, fmt.Sprintf("{after: {event: acquire-done}, fault: {kill: {node: %s, restart-after: 1ms}}}", node))
			}
			timeline = append(timeline, "{at: 2ms, client: client-2, do: [try-lock, sleep: 60s]}")
			return locktest.Parse(t, plan(settings, fmt.Sprintf("memory-loss: %d", lost), timeline...), 0, nil)
		}
		f := k + q - len(names)
		locktest.MutualExclusion(t, lose(f-1))
		locktest.Breaks(t, lose(f))
	}))
}

// TestPauseGuard: a client whose guard time is the worst pause writes nothing late. One without is late if the pause
// outlives its keys, which are gone a millisecond after the time to live: the rival writes then, and a millisecond later
// the write that was checked before the pause.
func TestPauseGuard(t *testing.T) {
	const ttl = 2 * time.Second
	lock := func(guard time.Duration) string { return fmt.Sprintf("lock: {ttl: %v, guard-time: %v}", ttl, guard) }
	paused := func(guard, assumed, pause time.Duration) string {
		return plan(lock(guard), fmt.Sprintf("pause: %v", assumed),
			"{at: 0s, client: client-1, do: [try-lock, write, sleep: 5s]}",
			fmt.Sprintf("{after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: %v}}}", pause),
			fmt.Sprintf("{at: %v, client: client-2, do: [try-lock, write, unlock]}", ttl+time.Millisecond))
	}
	t.Run("safe with what is assumed", rapid.MakeCheck(func(t *rapid.T) {
		pause := milliseconds(1, 1500).Draw(t, "pause") // a longer guard time would leave nothing of the lease
		locktest.MutualExclusion(t, locktest.Parse(t, paused(pause, pause, pause), 0, nil))
		locktest.MutualExclusion(t, locktest.Experiments(t, locktest.Setup{
			Settings: lock(pause),
			Assume:   locktest.Assumptions{Pause: pause},
		}).Draw(t, "experiment"))
	}))
	t.Run("late beyond it", rapid.MakeCheck(func(t *rapid.T) {
		holds, breaks := ttl+time.Millisecond, ttl+2*time.Millisecond
		locktest.MutualExclusion(t, locktest.Parse(t, paused(0, holds, holds-milliseconds(0, 1000).Draw(t, "less")), 0, nil))
		late := locktest.Parse(t, paused(0, 0, breaks+milliseconds(0, 1000).Draw(t, "more")), 0, nil)
		r := record(func(t rapid.TB) { locktest.MutualExclusion(t, late) })
		if !r.failed || !strings.Contains(r.log.String(), "not tested: late write (stale-write), but the faults exceed the assumptions: a pause") {
			t.Fatalf("failed %v: %s", r.failed, &r.log)
		}
	}))
}
