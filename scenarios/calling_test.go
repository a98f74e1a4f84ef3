package scenarios_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// calling is a scenario whose first client does some steps with a lock.
func calling(lock, steps string) []byte {
	return fmt.Appendf(nil, `title: t
source: s
explanation: e
claim: holds
clients: [c1, c2]
resources: [R]
lock: {%s}
timeline:
  - {at: 1s, client: c1, do: [%s]}
duration: 5s
expect: {findings: safe, unavailable: {at-most: 20s}}
`, lock, steps)
}

// Whatever a step can say of its call is written as it was read.
func TestCallingIsWrittenAsItWasRead(t *testing.T) {
	for _, steps := range []string{
		"lock: {ttl: 3s, for: 5s}", "lock: {cancel: 0s}", "try-lock: {within: 3ms, cancel: 2ms}", "try-lock: {resource: R, ttl: 2s}",
		"lock, extend: {for: 5s, lease-context: true}", "lock, unlock: {cancel: 1s}, unlock: {released: true}, extend: {for: 1s, released: true}",
		"lock, unlock, renew: {for: 1s, released: true}", "lock, renew: {for: 1s, period: 2s, limit: 3, max-time: 4s, meanwhile: 2s}",
		"with-lock: {for: 5s, wait: 1s, limit: 2}, unlock: {released: true}", "with-lock: 5s", "close: {within: 0s}, new-client", "prepare: {cancel: 1ms}",
	} {
		first, err := scenarios.Parse("f.yaml", calling("ttl: 10s", steps))
		if err != nil {
			t.Errorf("%s: %v", steps, err)
			continue
		}
		written, err := first[0].Encode()
		if err != nil {
			t.Fatal(err)
		}
		second, err := scenarios.Parse("f.yaml", written)
		if err != nil {
			t.Fatalf("%s: %v\n%s", steps, err, written)
		}
		again, err := second[0].Encode()
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

// What a step cannot say, or a lock cannot do, is refused where it stands.
func TestCallingThatIsRefused(t *testing.T) {
	for _, test := range []struct{ lock, steps, want string }{
		{"ttl: 10s", "lock: {released: true}", "f.yaml:9:38: timeline[0].do[0].lock: lock takes no such key"},
		{"ttl: 10s", "lock, hold: {for: 1s, ttl: 2s}", "hold takes no such key"},
		{"ttl: 10s", "try-lock: {cancel: -1s}", "must not be negative"},
		{"ttl: 10s", "try-lock: {ttl: 1500us}", "milliseconds"},
		{"ttl: 10s, guard: {max-ttl: 10s}", "try-lock: {ttl: 11s}", "the largest by the restart guard"},
		{"ttl: 10s", "unlock: {released: true}", "there is no lock that was released before"},
		{"ttl: 10s", "lock: {ttl: 2s}, renew: {for: 5s, period: 1100ms}", "more than half of the TTL"},
		{"ttl: 10s", "with-lock: {for: 5s, period: 6s}", "at least twice in its TTL"},
		{"ttl: 10s", "with-lock", "needs a length"},
		{"ttl: 10s", "lock: {}", "says nothing"},
		{"protocol: redlock-plain", "with-lock: 5s", "protocol redlock-plain has no such call"},
		{"protocol: redlock-plain", "lock, unlock: {cancel: 1s}", "does not look at the contexts of its calls"},
		{"protocol: redlock-plain", "lock, unlock, unlock: {released: true}", "does not know a lock that was released"},
		{"protocol: redlock-plain", "lock, renew: {for: 1s, limit: 3}", "does not renew its locks by itself"},
		{"ttl: 10s, counter-ttl: 20s", "lock", "there are none without fencing"},
		{"ttl: 10s, loss-lead: -1s", "lock", "loss lead"},
	} {
		_, err := scenarios.Parse("f.yaml", calling(test.lock, test.steps))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("{%s} [%s]: %v, want %q", test.lock, test.steps, err, test.want)
		}
	}
}
