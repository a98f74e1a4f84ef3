package advise_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sweep/advise"
)

func known(t *testing.T, yaml string) advise.Known {
	t.Helper()
	k := advise.Default()
	if err := advise.Parse("known.yaml", []byte(yaml), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

func advice(t *testing.T, yaml string) *advise.Advice {
	t.Helper()
	a, err := advise.For(context.Background(), known(t, yaml))
	if err != nil {
		t.Fatal(err)
	}
	return a
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
		{"loss of memory", "{ttl: 5s, clock-error: 0%, nodes: 7, down: 2, memory-loss: 2, rtt: 5ms}",
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
		a := advice(t, c.known)
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
		if shown := a.Limits[0].Shown; shown != "paused for twice the TTL, the holder's write: late write (stale-write); with fencing: holds" {
			t.Errorf("%s: %s", c.name, shown)
		}
	}
}

// The TTL leaves the work what it needs: after the round trip, the drift allowance and the guard time.
func TestTTLForWork(t *testing.T) {
	// 4 s of work, 500 + 10 ms of guard, 11 ms of node timeout: 4521 ms are 99.9 % of the TTL.
	a := advice(t, "{work: 4s, pause: 500ms}")
	if ttl := a.Settings.Lock.TTL; ttl != 4526*time.Millisecond {
		t.Errorf("TTL %v", ttl)
	}
}

// What is printed can be used: the block is a settings file for the same settings.
func TestBlock(t *testing.T) {
	for _, text := range []string{"{ttl: 10s, pause: 800ms}", "{work: 3s, nodes: 7, down: 2, persistence: every-second, rtt: {p50: 1ms, p99.9: 3ms, max: 4ms}, clock-step: 10ms}"} {
		a := advice(t, text)
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
	a := advice(t, "{ttl: 10s, pause: 800ms, clock-step: 1500us}")
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
	a := advice(t, "{ttl: 10s, node-timeout: 10ms, clock-error: 0%, rtt: {min: 0s, p90: 10ms, max: 20ms}}")
	if got := a.Costs[0].Computed; got != "0.008560" {
		t.Errorf("all up: %s", got)
	}
	if got := a.Costs[2].Computed; got != "0.052300" {
		t.Errorf("one down: %s", got)
	}
	for _, c := range a.Costs[:4] {
		if !c.Confirmed {
			t.Errorf("%+v", c)
		}
	}
	if last := a.Costs[len(a.Costs)-1]; !strings.HasPrefix(last.Computed, "no bound") {
		t.Errorf("%+v", last)
	}
}

// A reader sees what is gone of the TTL, where three digits of what is left are all alike; JSON has what is left.
func TestTakenOfTheTTL(t *testing.T) {
	// Round trips are even from 0 to 20 ms. The third of five has come after 10 ms half of the time, and in 99 of 100 after
	// 20 ms × 0.894 (10x³ − 15x⁴ + 6x⁵ = 0.99). The drift allowance is 1000 ppm of 10 s, 1 − (1−ρ)/(1+ρ) rounded up.
	a := advice(t, "{ttl: 10s, clock-error: 500ppm, rtt: {min: 0s, max: 20ms}}")
	if c := a.Costs[1]; c.What != "validity left of a TTL of 10s, all nodes up" || !strings.HasPrefix(c.Computed, "9.98s half of the time, 9.972") {
		t.Errorf("%+v", c)
	}
	var text strings.Builder
	if err := a.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = "taken from a TTL of 10s by an acquire and the drift allowance, all nodes up: 20ms half of the time, 27.9ms in 99 of 100\n"
	if !strings.Contains(text.String(), want) || strings.Contains(text.String(), "validity left") {
		t.Errorf("no %q in\n%s", want, text.String())
	}
}

func TestWhatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                  "how long locks live (ttl) or how long the work takes (work) must be given",
		"{ttl: 10s, down: 3}":                 "5 nodes cannot have 3 down and 0 without their memory: 7 would do",
		"{ttl: 10s, down: 2, memory-loss: 2}": "5 nodes cannot have 2 down and 2 without their memory: 7 would do",
		"{ttl: 10s, nodes: 1000000000}":       "nodes 1000000000, must be from 1 to 64",
		"{ttl: 10s, clock-error: 51%}":        "clock-error 51% is not from 0% to 50%",
		"{ttl: 10s, pause: -1s}":              "pause -1s is not from 0s to 24h",
		"{ttl: 10s, node-timeout: 1ms}":       "node timeout 1ms is no longer than the shortest round trip, 1ms",
		"{ttl: 1s, pause: 2s}":                "ttl 1s is too short for work of 0s",
		"{ttl: 1s, work: 990ms}":              "it must be 1.013s at least",
		"{ttl: 1500us}":                       "not a whole number of milliseconds",
		"{ttl: 1s, node-timeout: 0s}":         "node-timeout 0s is not positive",
	} {
		_, err := advise.For(context.Background(), known(t, text))
		if !errors.As(err, new(*advise.InputError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{ttl: 10}":                   "k.yaml:1:7: ttl: a duration needs a unit",
		"{tll: 10s}":                  `k.yaml:1:2: unknown key "tll"; did you mean "ttl"?`,
		"{clock-error: 5pm}":          `clock-error: not a percentage`,
		"{clock-error: xppm}":         `clock-error: not a rate error, as "500ppm" or "0.05%" "xppm"`,
		"{rtt: {p50: 1ms}}":           `missing key "max"`,
		"{rtt: {max: 1ms, p50: 2ms}}": "times must not fall",
		"{persistence: allways}":      `did you mean "always"?`,
	} {
		k := advise.Default()
		if err := advise.Parse("k.yaml", []byte(text), &k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
