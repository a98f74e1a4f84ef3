package attacks

import (
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/network"
)

// What a call sends one after the other is seen of locks that do so, whether messages take time or not, and of no other:
// neither that a script must be learned first, nor that calls follow each other, makes it several.
func TestBetween(t *testing.T) {
	change := func(to func(*protocols.Settings)) func(*protocols.Settings) { return to }
	getDel := change(func(s *protocols.Settings) {
		protocols.Change(s, func(own *protocols.ReleaseSettings) { own.Release = protocols.GetDel })
	})
	guarded := change(func(s *protocols.Settings) {
		protocols.Change(s, func(own *protocols.RedlockSettings) {
			own.Fencing, own.Guard = true, &protocols.Guard{MaxTTL: s.TTL}
		})
	})
	leased := change(func(s *protocols.Settings) {
		protocols.Change(s, func(own *protocols.RedissonMultiSettings) { own.Watchdog = false })
	})
	all := []history.Func{history.Acquire, history.Extend, history.Release}
	for _, c := range []struct {
		protocol protocols.Name
		change   func(*protocols.Settings)
		calls    []history.Func
		want     []string
	}{
		{"redlock", nil, all, nil},
		{"redlock", guarded, all, nil},
		{"redlock-plain", nil, all, nil},
		{"single", nil, all, nil},
		{"redisson", nil, all, nil},
		{"get-set", nil, all, []string{"GET", "SET"}},
		{"setnx-expire", nil, all, []string{"SETNX", "EXPIRE"}},
		{"single", getDel, all, []string{"GET", "DEL"}},
		{"redisson-multi", nil, all, nil},
		{"single", getDel, []history.Func{history.Acquire, history.Extend}, nil},
		{"get-set", nil, []history.Func{history.Release}, nil},
		// The lease time that it gives its locks at last.
		{"redisson-multi", leased, all, []string{"script", "PEXPIRE"}},
	} {
		for _, latency := range []network.Latency{{}, network.Uniform(time.Millisecond, 10*time.Millisecond), network.Uniform(time.Second, 2*time.Second)} {
			s := scenarios.Default()
			s.Network.Latency.Latency = latency
			s.Lock = s.Lock.With(c.protocol)
			if c.change != nil {
				c.change(&s.Lock)
			}
			got, err := Between(&Settings{Scenario: s.Settings()}, c.calls, true, scenarios.Options{})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, latency up to %v: %q, %v, want %q", c.protocol, latency.Max(), got, err, c.want)
			}
		}
	}
}
