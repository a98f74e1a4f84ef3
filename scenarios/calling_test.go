package scenarios_test

import (
	"bytes"
	"strings"
	"testing"

	"redlocksim/scenarios/scenariotest"
)

// Whatever a step can say of its call is written as it was read.
func TestCallingIsWrittenAsItWasRead(t *testing.T) {
	for _, steps := range []string{
		"lock: {ttl: 3s, for: 5s}", "lock: {cancel: 0s}", "try-lock: {within: 3ms, cancel: 2ms}", "try-lock: {resource: R, ttl: 2s}",
		"lock, extend: {for: 5s, lease-context: true}", "lock, unlock: {cancel: 1s}, unlock: {released: true}, extend: {for: 1s, released: true}",
		"lock, unlock, renew: {for: 1s, released: true}", "lock, renew: {for: 1s, period: 2s, limit: 3, max-time: 4s, meanwhile: 2s}",
		"with-lock: {for: 5s, wait: 1s, limit: 2}, unlock: {released: true}", "with-lock: 5s", "close: {within: 0s}, new-client", "prepare: {cancel: 1ms}",
	} {
		written, err := scenariotest.Given(t, "lock: {ttl: 10s}\ntimeline: [{at: 1s, client: client-1, do: ["+steps+"]}]").Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenariotest.Given(t, string(written)).Encode()
		if err != nil || !bytes.Equal(written, again) {
			t.Errorf("%s: %v, written\n%s\nand then\n%s", steps, err, written, again)
		}
		for _, key := range strings.FieldsFunc(steps, func(r rune) bool { return strings.ContainsRune("{}, :", r) }) {
			if !bytes.Contains(written, []byte(key)) {
				t.Errorf("%s: no %s in\n%s", steps, key, written)
			}
		}
	}
}
