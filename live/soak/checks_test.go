//go:build linux

package soak

import (
	"slices"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

func TestLockKeys(t *testing.T) {
	soon := time.Now().Add(time.Hour).UnixMilli()
	eternal, passing := lockKeys([]redis.Record{
		{Key: "lock-2", ExpiresAt: soon}, {Key: "lock-1", ExpiresAt: soon}, {Key: "lock-4"}, {Key: "lock-3"},
		{Key: driver.GuardKey}, {Key: driver.TokenKey("lock-1"), ExpiresAt: soon},
	})
	if !slices.Equal(eternal, []string{"lock-3", "lock-4"}) || !slices.Equal(passing, []string{"lock-1", "lock-2"}) {
		t.Errorf("for ever %v, for a while %v", eternal, passing)
	}
}
