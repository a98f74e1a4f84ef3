package scenarios

import "testing"

// A lease that was over before its extend returned is not believed in, whatever the extend says.
func TestAnExtendThatReturnsTooLate(t *testing.T) {
	s := parsed(t, `
lock: {protocol: db-row, ttl: 400ms}
nodes: {names: [A]}
clients: [client-1, client-2]
network: {latency: 5ms}
timeline:
  - {at: 0s, client: client-1, do: [lock, extend: 400ms, sleep: 1s]}
  - {after: {event: extend-called}, plus: 2ms, fault: {pause: {process: client-1, for: 1s}}}
  - {at: 900ms, client: client-2, do: [lock, sleep: 300ms, unlock]}
expect:
  findings: safe
  unavailable: {at-most: 1s}
  reached: [{event: extend-failed, client: client-1, after: {event: resume}, believing: client-2}]
`)
	for _, tier := range Tiers() {
		if r, err := Judge(s, Options{Tier: tier}); err != nil || !r.OK() {
			t.Errorf("%s: %v, %v, %v", tier, r.Verdict(), r.Problems, err)
		}
	}
}
