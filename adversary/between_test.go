package adversary

import (
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
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
	for _, c := range []struct {
		protocol protocols.Name
		change   func(*protocols.Settings)
		want     []string
	}{
		{"redlock", nil, nil},
		{"redlock", guarded, nil},
		{"redlock-plain", nil, nil},
		{"single", nil, nil},
		{"redisson", nil, nil},
		{"get-set", nil, []string{"GET", "SET"}},
		{"setnx-expire", nil, []string{"SETNX", "EXPIRE"}},
		{"single", getDel, []string{"GET", "DEL"}},
		{"redisson-multi", nil, nil},
		// The lease time that it gives its locks at last.
		{"redisson-multi", leased, []string{"script", "PEXPIRE"}},
	} {
		for _, latency := range []network.Latency{{}, network.Uniform(time.Millisecond, 10*time.Millisecond)} {
			s := scenarios.Default()
			s.Network.Latency.Latency = latency
			s.Lock = s.Lock.With(c.protocol)
			if c.change != nil {
				c.change(&s.Lock)
			}
			got, err := Between(&Settings{Scenario: s.Settings()}, true, scenarios.Options{})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, latency up to %v: %q, %v, want %q", c.protocol, latency.Max(), got, err, c.want)
			}
		}
	}
}
