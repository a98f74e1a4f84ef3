package protocols

import (
	"testing"
	"time"
)

func TestRedissonSettings(t *testing.T) {
	quorum := func(n int) func(*Settings) {
		return func(s *Settings) { Change(s, func(own *QuorumSettings) { own.Quorum = n }) }
	}
	for _, test := range []struct {
		protocol Name
		change   func(*Settings)
		want     string
	}{
		{"redisson", func(*Settings) {}, ""},
		{"redisson", func(s *Settings) { s.TTL = 1500 * time.Microsecond }, "ttl 1.5ms is not a positive whole number of milliseconds"},
		{"redisson-fair", func(*Settings) {}, ""},
		{"redisson-fair", func(s *Settings) { Change(s, func(own *RedissonFairSettings) { own.WaitTimeout = 0 }) }, "wait-timeout 0s is not a positive whole number of milliseconds"},
		{"redisson-multi", func(*Settings) {}, ""},
		{"redisson-multi", quorum(5), ""},
		{"redisson-multi", quorum(2), "quorum 2 of 5 nodes must be from 3, for a RedissonRedLock, to 5, for a RedissonMultiLock"},
		{"redisson-multi", quorum(6), "quorum 6 of 5 nodes must be from 3, for a RedissonRedLock, to 5, for a RedissonMultiLock"},
	} {
		s := Default().With(test.protocol)
		test.change(&s)
		got := ""
		if err := s.Check(5); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.protocol, got, test.want)
		}
	}
}
