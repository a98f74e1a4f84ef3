package audit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/search/audit"
)

func suggest(text string) (*audit.Suggestion, error) {
	a, err := audit.Parse("known.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return audit.Suggest(context.Background(), a)
}

func suggestion(t *testing.T, text string) *audit.Suggestion {
	t.Helper()
	g, err := suggest(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every setting by hand, and its neighbours on both sides.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name, known string
		want        string // setting=value:holds/breaks
	}{
		// 1 − 0.9995/1.0005 = 0.09995…%. 10 s less 0.1 % is 9.99 s, and 9.99 / 0.9995 = 9.994997 s. 20 ms × 1.0005.
		{"usual", "{ttl: 10s, pause: 800ms, rtt: {p50: 1ms, p99: 8ms, max: 20ms}}",
			"drift factor=0.1%:0.1%/0.0999% restart delay=9.995s:9.995s/9.994s node timeout=21ms:21ms/20ms quorum=3 of 5:0/1 guard time=820ms:820ms/819ms"},
		// 1 − 0.9/1.1, rounded up. 4 s less 18.1819 %, by a clock that is slow by 10 %: 3.272724 / 0.9 = 3.63636 s. 5 × 1.1
		// = 5.5 ms. Between 4 s / 1.1 = 3.63636 s and the end of the lease a pause of 1 s and a message of 5 ms need 904.5
		// ms by the slow clock.
		{"wrong clocks", "{ttl: 4s, clock-error: 100000ppm, pause: 1s, rtt: 5ms}",
			"drift factor=18.1819%:18.1819%/18.1818% restart delay=3.637s:3.637s/3.636s node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=1.005s:905ms/904ms"},
		{"right clocks", "{ttl: 4s, clock-error: 0%, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=4s:4s/3.999s node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
		// 100 ms × 0.9995/1.0005 = 99.90 ms. All that is needed is 5 s − 4.9 s × 0.9995/1.0005 = 104.8976 ms, of which the
		// factor's part is 4.8976 ms of 5 s, 0.09795 %.
		{"steps", "{ttl: 5s, clock-step: 100ms, rtt: 5ms}",
			"drift factor=0.1%:0.098%/0.0979% drift constant=100ms:100ms/99ms restart delay=4.898s:4.898s/4.897s node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
		{"loss of memory", "{ttl: 5s, clock-error: 0%, nodes: 7, budget: {memory-loss: 2}, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=5s:5s/4.999s node timeout=6ms:6ms/5ms quorum=5 of 7:5/4 guard time=5ms:5ms/4ms"},
		{"even", "{ttl: 5s, clock-error: 0%, nodes: 4, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=5s:5s/4.999s node timeout=6ms:6ms/5ms quorum=3 of 4:1/2 guard time=5ms:5ms/4ms"},
		{"persistence", "{ttl: 5s, clock-error: 0%, persistence: always, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=0s:0s/ node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
		// A machine that loses power loses the last second, a process that is killed nothing.
		{"everysec", "{ttl: 5s, clock-error: 0%, persistence: everysec, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=5s:5s/4.999s after a kill=0s:0s/ node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
		{"everysec, and power is safe", "{ttl: 5s, clock-error: 0%, persistence: every-second, power-loss: false, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=0s:0s/ node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
		{"no persistence, and power is safe", "{ttl: 5s, clock-error: 0%, power-loss: false, rtt: 5ms}",
			"drift factor=0%:0%/ restart delay=5s:5s/4.999s node timeout=6ms:6ms/5ms quorum=3 of 5:0/1 guard time=5ms:5ms/4ms"},
	} {
		a := suggestion(t, c.known)
		var got []string
		for _, v := range a.Values {
			got = append(got, v.Setting+"="+v.Value+":"+v.Holds+"/"+v.Breaks)
			if (v.Breaks == "") != (v.What == "") {
				t.Errorf("%s: %s: %q at %q", c.name, v.Setting, v.What, v.Breaks)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text, c.want)
		}
		for _, cost := range a.Costs {
			if !cost.Confirmed {
				t.Errorf("%s: %+v", c.name, cost)
			}
		}
	}
}

// The TTL leaves the work what it needs: after the round trip, the drift allowance and the guard time.
func TestTTLForWork(t *testing.T) {
	// 4 s of work, 500 + 10 ms of guard, 11 ms of node timeout: 4521 ms are 99.9 % of the TTL.
	a := suggestion(t, "{work: 4s, pause: 500ms}")
	if ttl := a.Settings.Lock.TTL; ttl != 4526*time.Millisecond {
		t.Errorf("TTL %v", ttl)
	}
}

// What is printed can be used: the block is a settings file for the same settings.
func TestBlock(t *testing.T) {
	for _, text := range []string{"{ttl: 10s, pause: 800ms}", "{work: 3s, nodes: 7, persistence: every-second, rtt: {p50: 1ms, p99.9: 3ms, max: 4ms}, clock-step: 10ms}"} {
		a := suggestion(t, text)
		s, err := scenarios.ParseSettings("block.yaml", []byte(a.YAML))
		if err != nil {
			t.Fatalf("%v\n%s", err, a.YAML)
		}
		want, err := a.Settings.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s.Title = a.Settings.Title
		if got, err := s.Encode(); err != nil || string(got) != string(want) {
			t.Errorf("%v: got\n%s\nwant\n%s", err, got, want)
		}
	}
	a := suggestion(t, "{ttl: 10s, pause: 800ms, clock-step: 1500us}")
	for _, want := range []string{"redlock.WithQuorum(3)", `Factor: "0.1%", Constant: 2*time.Millisecond`, "WithNodeTimeout(11*time.Millisecond)",
		"WithLossLead(810*time.Millisecond)", "MaxTTL: 10*time.Second", "resource, 10*time.Second"} {
		if !strings.Contains(a.Go, want) {
			t.Errorf("no %s in\n%s", want, a.Go)
		}
	}
}

func TestCosts(t *testing.T) {
	// An answer within 10 ms has chance 0.9 × 10/10 (a tenth of the answers takes 10 to 20 ms). Of five, three or more: 1 −
	// 0.00856; of four: 1 − 0.0523.
	a := suggestion(t, "{ttl: 10s, node-timeout: 10ms, clock-error: 0%, rtt: {min: 0s, p90: 10ms, max: 20ms}}")
	if got := a.Costs[0].Computed; got != "0.00856" {
		t.Errorf("all up: %s", got)
	}
	if got := a.Costs[2].Computed; got != "0.0523" {
		t.Errorf("one down: %s", got)
	}
	for _, c := range a.Costs[:6] {
		if !c.Confirmed {
			t.Errorf("%+v", c)
		}
	}
	if last := a.Costs[len(a.Costs)-1]; !strings.HasPrefix(last.Computed, "no bound") {
		t.Errorf("%+v", last)
	}
}

// What an acquire and the allowance take of the TTL is told, since three digits of what is left are all alike.
func TestTakenOfTheTTL(t *testing.T) {
	// Round trips are even from 0 to 20 ms. The third of five has come after 10 ms half of the time, and in 99 of 100 after
	// 20 ms × 0.894 (10x³ − 15x⁴ + 6x⁵ = 0.99). The drift allowance is 1000 ppm of 10 s, 1 − (1−ρ)/(1+ρ) rounded up.
	c := suggestion(t, "{ttl: 10s, clock-error: 500ppm, rtt: {min: 0s, max: 20ms}}").Costs[1]
	if c.What != "taken from a TTL of 10s by an acquire and the drift allowance, all nodes up" || c.Computed != "20ms half of the time, 27.9ms in 99 of 100" {
		t.Errorf("%+v", c)
	}
}

// A failover forgets on top of what nodes lose besides, and suspensions count for a clock that does not count them.
func TestWhatAnAuditAsksBesides(t *testing.T) {
	for text, want := range map[string]string{
		// ⌊(5 + 1) / 2⌋ + 1.
		"{ttl: 5s, clock-error: 0%, rtt: 5ms, failover: true}": "quorum=4 of 5",
		// 2 s, for clocks without an error.
		"{ttl: 9s, clock-error: 0%, rtt: 5ms, budget: {suspend: 2s}}": "drift constant=2s",
		// The TTL need not last for work under a lock that is renewed.
		"{ttl: 2s, work: 1m, renews: true, clock-error: 0%, rtt: 5ms}": "guard time=5ms",
	} {
		var got []string
		for _, v := range suggestion(t, text).Values {
			got = append(got, v.Setting+"="+v.Value)
		}
		if !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                   "how long locks live (ttl) or how long the work takes (work) must be given",
		"{ttl: 10s, budget: {memory-loss: 5}}": "5 nodes cannot have 5 without their memory",
		"{ttl: 10s, node-timeout: 1ms}":        "node timeout 1ms is no longer than the shortest round trip, 1ms",
		"{ttl: 1s, pause: 2s}":                 "ttl 1s is too short for work of 0s",
		"{ttl: 1s, work: 990ms}":               "it must be 1.013s at least",
		"{ttl: 10s, library: redsync}":         "leave library and network out",
		"{ttl: 10s, network: {latency: 1ms}}":  "leave library and network out",
	} {
		if _, err := suggest(text); !errors.Is(err, audit.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{clock-error: 5pm}":          `clock-error: not a percentage`,
		"{clock-error: xppm}":         `clock-error: not a rate error, as "500ppm" or "0.05%" "xppm"`,
		"{rtt: {p50: 1ms}}":           `missing key "max"`,
		"{rtt: {max: 1ms, p50: 2ms}}": "times must not fall",
	} {
		if _, err := suggest(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
