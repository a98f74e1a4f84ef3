package audit_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"redlocksim/sweep/audit"
)

func TestTry(t *testing.T) {
	for _, text := range []string{"{}", "{library: redsync, ttl: 8s, restart-delay: 5s, persistence: everysec, clock-step: 1s, pause: 2s, work: 4s, failover: true}",
		"{library: redlock, ttl: 10s, fencing: true, pause: 5s, persistence: always, nodes: 1, work: 20s, node-timeout: 5ms}"} {
		a, err := audit.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := audit.Of(t.Context(), a, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.MarshalIndent(out, "", " ")
		fmt.Println(string(data))
	}
}
