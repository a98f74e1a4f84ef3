package rules

import (
	"testing"

	"redlocksim/scenarios/protocols"
)

// A protocol declares its keys, and of a lock of one's own the name of a resource in the key tells.
func TestKeysOfTheLock(t *testing.T) {
	all := []string{"r", "orders", "orders-2"}
	fenced := protocols.Default()
	protocols.Change(&fenced, func(own *protocols.RedlockSettings) { own.Fencing, own.Guard = true, &protocols.Guard{MaxTTL: ttl} })
	plain := protocols.Default().With("redlock-plain")
	protocols.Change(&plain, func(own *protocols.RedlockPlainSettings) { own.Tokens = protocols.TokenBefore })
	for _, c := range []struct {
		key      string
		lock     protocols.Settings
		foreign  bool
		resource string
		known    bool
	}{
		{"r", protocols.Default(), false, "r", true},
		{"lock", protocols.Default(), false, "", false},
		{"redlock:token:orders", fenced, false, "orders", true},
		{"redlock:token:other", fenced, false, "", false},
		{"redlock:guard", fenced, false, "", true},
		{"orders:token", plain, false, "orders", true},
		{"orders:token", protocols.Default(), false, "", false},
		{"redisson_lock__channel:{r}", protocols.Default().With("redisson"), false, "r", true},
		{"redisson_lock_queue:{r}", protocols.Default().With("redisson"), false, "", false},
		{"redisson_lock_queue:{r}", protocols.Default().With("redisson-fair"), false, "r", true},
		{"l:orders", protocols.Default(), true, "orders", true},
		{"{orders-2}", protocols.Default(), true, "orders-2", true},
		{"redlock:guard", protocols.Default(), true, "", true},
		{"lock", protocols.Default(), true, "", false},
	} {
		run := &Run{Lock: c.lock, Foreign: c.foreign, Resources: all}
		run.keys = keysOf(run)
		if resource, known := run.resourceOf(c.key); resource != c.resource || known != c.known {
			t.Errorf("%s, foreign %v: %q of the lock on %q: %v, want %q, %v", c.lock.Protocol, c.foreign, c.key, resource, known, c.resource, c.known)
		}
		if about := run.about([]string{"lock", c.key}); about != c.resource {
			t.Errorf("%s, foreign %v: a command with %q is about %q, want %q", c.lock.Protocol, c.foreign, c.key, about, c.resource)
		}
	}
}
