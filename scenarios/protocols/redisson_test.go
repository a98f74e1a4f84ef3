package protocols

import (
	"testing"
	"time"
)

func TestRedissonSettings(t *testing.T) {
	for _, test := range []struct {
		protocol string
		change   func(*Settings)
		want     string
	}{
		{"redisson", func(*Settings) {}, ""},
		{"redisson", func(s *Settings) { s.TTL = 1500 * time.Microsecond }, "ttl 1.5ms is not a positive whole number of milliseconds"},
		{"redisson-fair", func(*Settings) {}, ""},
		{"redisson-fair", func(s *Settings) { s.WaitTimeout = 0 }, "wait-timeout 0s is not a positive whole number of milliseconds"},
		{"redisson-multi", func(*Settings) {}, ""},
		{"redisson-multi", func(s *Settings) { s.Quorum = 5 }, ""},
		{"redisson-multi", func(s *Settings) { s.Quorum = 2 }, "quorum 2 of 5 nodes must be from 3, for a RedissonRedLock, to 5, for a RedissonMultiLock"},
		{"redisson-multi", func(s *Settings) { s.Quorum = 6 }, "quorum 6 of 5 nodes must be from 3, for a RedissonRedLock, to 5, for a RedissonMultiLock"},
	} {
		p, ok := Find(test.protocol)
		if !ok {
			t.Fatalf("no protocol %s", test.protocol)
		}
		s := Default()
		test.change(&s)
		got := ""
		if err := p.Check(s, 5); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.protocol, got, test.want)
		}
	}
}
