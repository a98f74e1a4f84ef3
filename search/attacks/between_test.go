package attacks

import (
	"fmt"
	"testing"

	"redlocksim/scenarios"
)

// A lock that looks at its key in one command and changes it in another breaks if the client pauses in between, and by messages
// that are late alone; one that does it in one command bears both. That messages take no time makes no difference.
func TestBetween(t *testing.T) {
	const five, one = "[A, B, C, D, E]", "[A]"
	for _, c := range []struct {
		lock, nodes string
		broken      bool
	}{
		{"protocol: redlock", five, false},
		{"protocol: redlock, fencing: true, guard: {max-ttl: 8s}", five, false},
		{"protocol: one-redis", one, false},
		{"protocol: single", one, false},
		{"protocol: redlock-plain, asking: sequential", five, false},
		{"protocol: redlock-plain, extending: get-set", five, true},
		{"protocol: redlock-plain, extending: get-set, asking: sequential", five, true},
		{"protocol: redlock-plain, extending: get-set", one, true},
		{"protocol: single, release: get-del", one, true},
		{"protocol: single, release: del", one, true}, // which is held up
		{"protocol: get-set", one, true},
		// A client that stops between the two leaves a key for ever, which takes the lock from nobody.
		{"protocol: setnx-expire", one, false},
	} {
		for _, pause := range []string{"0s", "5s"} {
			for _, latency := range []string{"0s", "{min: 1ms, max: 10ms}"} {
				text := fmt.Sprintf("lock: {ttl: 8s, node-timeout: 1s, %s}\nnodes: {names: %s}\nnetwork: {latency: %s}\nbudget: {pause: %s}\n", c.lock, c.nodes, latency, pause)
				s, err := scenarios.ParseSettings("settings.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				found, _ := Find("between")
				out, err := found[0].Run(&Settings{Scenario: s, Pause: s.Budget.Pause}, scenarios.Options{})
				if got := out.Broken != ""; err != nil || got != c.broken || out.NotTested != "" {
					t.Errorf("%s: broken %q, not tested %q, %v", text, out.Broken, out.NotTested, err)
				}
			}
		}
	}
}
