package shrink

import (
	"context"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/settings"
)

// withDrawnSettings is a token that is granted twice, which takes fencing and nothing else of what was drawn.
const withDrawnSettings = `
title: tokens after shutdown
source: a search
explanation: two of three nodes lose their counters
claim: holds
lock: {ttl: 400ms, fencing: true, wake-up: 10ms, batching: 1, node-timeout: 15ms, drift: {factor: 0%, constant: 1ms}}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 1ms}
storage: fenced
timeline:
  - {at: 5s, client: client-1, do: [lock]}
  - {at: 0s, client: client-2, do: [lock, unlock]}
  - {at: 2s, fault: {shutdown: {node: A, restart-after: 1s}}}
  - {at: 2s, fault: {shutdown: {node: C, restart-after: 1s}}}
duration: 10s
expect: {findings: token-repeated, unavailable: {at-most: 1s}}
`

// Settings that were drawn go back to what they were drawn around, but for those that the violation needs, and those stay
// that were given.
func TestDrawnSettingsGoBack(t *testing.T) {
	s := parse(t, withDrawnSettings)
	base, err := scenarios.ParseSettings("base.yaml", []byte("lock: {ttl: 2s, guard-time: 310ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := search.Violation{Scenario: s, Seed: 1, Kind: checker.TokenRepeated, Beyond: true}
	given, err := Violation(context.Background(), v, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := settings.Changed(given, base), settings.Changed(s, base); !slices.Equal(got, want) {
		t.Errorf("given settings are %v afterwards, want %v", got, want)
	}
	v.Base = base
	f, done, err := Finding(context.Background(), v, 2000)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if want := []string{"fencing"}; !slices.Equal(f.Settings, want) || !slices.Equal(settings.Changed(f.Scenario, base), want) {
		t.Errorf("the finding takes %v, want %v", f.Settings, want)
	}
	// A run with these causes and more is explained by it, one without fencing is not.
	for _, with := range []struct {
		settings []string
		want     int
	}{{[]string{"fencing", "guard"}, 1}, {[]string{"guard"}, 0}} {
		shown := search.Shown{Kind: f.Kind, Families: []string{"pause", "shutdown"}, Settings: with.settings, Beyond: true}
		if got := (search.Findings{f}).Explain(shown); got != with.want {
			t.Errorf("with %v it is explained by %d, want %d", with.settings, got, with.want)
		}
	}
}
