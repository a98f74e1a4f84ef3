package schema_test

import (
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// A key that is set to what the page gives as its default changes nothing.
func TestDefaultsAreTrue(t *testing.T) {
	const rest = `
title: t
source: s
explanation: e
claim: holds
clients: [client-1]
timeline: [{at: 0s, client: client-1, do: [try-lock]}]
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	encoded := func(line string) string {
		all, err := scenarios.Parse("defaults.yaml", []byte(line+rest))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text, err := all[0].Encode()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return string(text)
	}
	definitions, checked := made(t).Definitions, 0
	for name, form := range map[string]string{
		"Scenario": "KEY: VALUE",
		"Settings": "lock: {protocol: PROTOCOL, KEY: VALUE}",
		"Drift":    "lock: {drift: {KEY: VALUE}}",
		"Nodes":    "nodes: {KEY: VALUE}",
		"Network":  "network: {KEY: VALUE}",
		"Budget":   "budget: {KEY: VALUE}",
	} {
		for key, p := range definitions[name].Properties {
			_, fallback, _ := split(p.Description)
			if fallback == "" || quoted(fallback) == fallback {
				continue // prose
			}
			for _, protocol := range protocolsWith(key) {
				line := strings.NewReplacer("KEY", key, "VALUE", fallback, "PROTOCOL", protocol).Replace(form)
				without := encoded("")
				if name == "Settings" {
					if key == "protocol" {
						line = "lock: {protocol: " + fallback + "}"
					} else {
						without = encoded("lock: {protocol: " + protocol + "}")
					}
				}
				if with := encoded(line); with != without {
					t.Errorf("%s is not the default:\n%s", line, with)
				}
				if checked++; name != "Settings" || key == "protocol" {
					break
				}
			}
		}
	}
	if checked < 130 {
		t.Errorf("%d defaults were tried, there were more", checked)
	}
}

// protocolsWith are the protocols that have a setting, or all of them for a key that is none.
func protocolsWith(key string) (names []string) {
	var all []string
	for _, p := range protocols.All() {
		if all = append(all, string(p.Name)); p.Name.Has(key) {
			names = append(names, string(p.Name))
		}
	}
	if names == nil {
		return all
	}
	return names
}
