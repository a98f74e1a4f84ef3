package scenarios_test

import (
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// took is how long a call of client-1 took, the last one of those that failed.
func took(t *testing.T, text string, f history.Func) time.Duration {
	t.Helper()
	r := scenariotest.Judged(t, scenariotest.Given(t, text), scenarios.Options{})
	called := map[int]int64{}
	length := time.Duration(-1)
	for _, e := range r.History {
		switch {
		case e.Func != f || e.Process != "client-1":
		case e.Kind == history.Call:
			called[e.Op] = e.Time
		case e.Kind == history.Return && e.Outcome != history.OK:
			length = time.Duration(e.Time - called[e.Op])
		}
	}
	return length
}

// A call that waits until the client is connected gives up when its own context ends.
func TestACallWhoseContextEndsDoesNotWaitForTheConnection(t *testing.T) {
	if got := took(t, `
clients: [client-1]
resources: [R, S]
lock: {preset: redlock-cpp, ttl: 10s}
timeline:
  - {at: 0s, fault: {partition: {nodes: [E]}}}
  - {at: 0s, client: client-1, do: [lock: {resource: R}, unlock]}
  - {at: 100ms, client: client-1, do: [lock: {resource: S, for: 200ms}]}
`, history.Acquire); got != 200*time.Millisecond {
		t.Errorf("it takes %v, want 200ms", got)
	}
}

// A release that is not answered is sent again after as many tries to connect as the settings say, each as long as they say.
func TestReconnecting(t *testing.T) {
	for settings, want := range map[string]time.Duration{
		"resends: 0": 50 * time.Millisecond,
		"resends: 1": 6 * 50 * time.Millisecond, // five tries
		"resends: 1, reconnects: 2, reconnect-timeout: 70ms":                          190 * time.Millisecond,
		"resends: 1, reconnects: 2, connected-timeout: 60ms":                          180 * time.Millisecond,
		"resends: 1, reconnects: 1, connected-timeout: 60ms, reconnect-timeout: 10ms": 70 * time.Millisecond,
	} {
		if got := took(t, `
clients: [client-1]
lock: {protocol: redlock-plain, node-timeout: 50ms, `+settings+`}
timeline:
  - {at: 0s, client: client-1, do: [lock, sleep: 1s, unlock]}
  - {at: 500ms, fault: {partition: {}}}
`, history.Release); got != want {
			t.Errorf("%s: it takes %v, want %v", settings, got, want)
		}
	}
}
