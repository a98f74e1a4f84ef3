//go:build linux

package live

import (
	"slices"
	"testing"
	"time"

	"redlocksim/redlock"
)

func TestLockKeys(t *testing.T) {
	soon := time.Now().Add(time.Hour).UnixMilli()
	eternal, passing := lockKeys(map[string]remembered{
		"lock-2": {expires: soon}, "lock-1": {expires: soon}, "lock-4": {}, "lock-3": {},
		redlock.GuardKey: {}, redlock.TokenKey("lock-1"): {expires: soon},
	})
	if !slices.Equal(eternal, []string{"lock-3", "lock-4"}) || !slices.Equal(passing, []string{"lock-1", "lock-2"}) {
		t.Errorf("for ever %v, for a while %v", eternal, passing)
	}
}
