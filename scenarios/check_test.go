package scenarios_test

import (
	"testing"

	"redlocksim/scenarios"
)

// What only Redis nodes have is refused where a protocol has another service on its nodes, and taken where it has not.
func TestOnlyRedisNodesPersist(t *testing.T) {
	const rest = `title: t
source: s
explanation: e
claim: holds
clients: [client-1]
timeline: [{at: 0s, client: client-1, do: [try-lock]}]
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	for text, want := range map[string]string{
		"lock: {protocol: db-row}\nnodes: {persistence: always}\n": `f.yaml:9:22: nodes.persistence: is for Redis nodes, and protocol db-row has a database on them; leave it out: "persistence"`,
		"lock: {protocol: consensus}\nnodes: {replicas: {A: [A2]}}\n": `f.yaml:9:19: nodes.replicas: is for Redis nodes, and protocol consensus has a lock service on them; ` +
			`leave it out: "replicas"`,
		"lock: {protocol: db-row}\nnodes: {persistence: none}\n":                           "",
		"lock: {protocol: one-redis}\nnodes: {persistence: always, replicas: {A: [A2]}}\n": "",
	} {
		got := ""
		if _, err := scenarios.Parse("f.yaml", []byte(rest+text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s got  %s\nwant %s", text, got, want)
		}
	}
}
