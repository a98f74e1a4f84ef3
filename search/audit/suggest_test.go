package audit_test

import (
	"context"
	"errors"
	"regexp"
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

// Every setting by hand, and that the audit finds no smaller one: what is known is the limit, or next to it.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, known string
		values      string // setting=value
		limits      string // line=limit
	}{
		// 1 − 0.9995/1.0005 = 0.09995…%, and 0.1 % are for an error of 0.1/(200 − 0.1) = 0.050025 %. 10 s less 0.1 % is 9.99 s,
		// and 9.99 / 0.9995 = 9.994997 s. 20 ms × 1.0005.
		{"usual", "{ttl: 10s, pause: 800ms, rtt: {p50: 1ms, p99: 8ms, max: 20ms}}",
			"drift factor=0.1% restart delay=9.995s node timeout=21ms quorum=3 of 5 guard time=820ms",
			"clock error=0.05% killed process=9.995s node timeout=20ms"},
		// 1 − 0.9/1.1, rounded up. 4 s less 18.1819 %, by a clock that is slow by 10 %: 3.272724 / 0.9 = 3.63636 s. 5 × 1.1
		// = 5.5 ms.
		{"wrong clocks", "{ttl: 4s, clock-error: 100000ppm, pause: 1s, rtt: 5ms}",
			"drift factor=18.1819% restart delay=3.637s node timeout=6ms quorum=3 of 5 guard time=1.005s",
			"killed process=3.637s node timeout=5ms"},
		// 100 ms × 0.9995/1.0005 = 99.90 ms.
		{"steps", "{ttl: 5s, clock-step: 100ms, rtt: 5ms}",
			"drift factor=0.1% drift constant=100ms restart delay=4.898s node timeout=6ms guard time=5ms", "killed process=4.898s"},
		{"loss of memory", "{ttl: 5s, clock-error: 0%, nodes: 7, budget: {memory-loss: 2}, rtt: 5ms}",
			"drift factor=0% restart delay=5s quorum=5 of 7", "lost memory=2 killed process=5s"},
		{"even", "{ttl: 5s, clock-error: 0%, nodes: 4, rtt: 5ms}", "quorum=3 of 4", ""},
		{"persistence", "{ttl: 5s, clock-error: 0%, persistence: always, rtt: 5ms}", "restart delay=0s", "killed process=any power loss=any"},
		// A machine that loses power loses the last second, a process that is killed nothing.
		{"everysec", "{ttl: 5s, clock-error: 0%, persistence: everysec, rtt: 5ms}", "restart delay=5s", "killed process=any power loss=5s"},
		{"everysec, and power is safe", "{ttl: 5s, clock-error: 0%, persistence: every-second, power-loss: false, rtt: 5ms}",
			"restart delay=0s", "killed process=any"},
		{"no persistence, and power is safe", "{ttl: 5s, clock-error: 0%, power-loss: false, rtt: 5ms}", "restart delay=5s", "killed process=5s"},
	} {
		a := suggestion(t, c.known)
		if a.Code() != 0 {
			t.Errorf("%s: %s", c.name, a.Summary())
		}
		values, limits := "", ""
		for _, v := range a.Values {
			values += v.Setting + "=" + v.Value + " "
		}
		for _, x := range a.Assumptions {
			limits += x.Name + "=" + x.Limit + " "
		}
		for _, in := range [][2]string{{values, c.values}, {limits, c.limits}} {
			for _, want := range regexp.MustCompile(`[a-z A-Z]+=[0-9a-z.%]+( of [0-9])?`).FindAllString(in[1], -1) {
				if !strings.Contains(in[0], strings.TrimSpace(want)+" ") {
					t.Errorf("%s: no %q in %s", c.name, want, in[0])
				}
			}
		}
	}
}

// The TTL leaves the work what it needs: after the round trip, the drift allowance and the guard time.
func TestTTLForWork(t *testing.T) {
	// 4 s of work, which are 4.002 s by a fast clock, 500 + 10 ms of guard, 11 ms of node timeout: 4523 ms are 99.9 % of the
	// TTL.
	a := suggestion(t, "{work: 4s, pause: 500ms}")
	if ttl := a.Settings.Lock.TTL; ttl != 4528*time.Millisecond || a.Code() != 0 {
		t.Errorf("TTL %v: %s", ttl, a.Summary())
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
