package redisaddr

import (
	"strings"
	"testing"
)

// Whatever is wrong with an address, its password is not shown.
func TestCheckShowsNoPassword(t *testing.T) {
	for _, server := range []string{"u:geheim@h", "u:geheim@h:6379", "geheim@h:6379", ":geheim@h", "redis:/u:geheim@h", "redis://u:geheim/1@h", "redis://u:1/geheim@h",
		"redis://u:geheim#1@h", "redis://u:geheim?@h", "redis://u:geheim%@h", "redis://u:gehe im@h", "redis://u:geheim@h:port", "redis://u:geheim@[::1"} {
		if err := Check(server); err == nil || strings.Contains(err.Error(), "gehe") {
			t.Errorf("%s: %v", server, err)
		}
	}
	for _, server := range []string{"h", "h:6379", "[::1]:6379", "::1", "/run/redis@1.sock", "redis://h", "redis://u:geheim@h:6379/1", "rediss://:geheim@h", "redis://u:ge%2Fheim@h",
		"unix://u:geheim@/run/redis.sock?db=1", "redis://u@h"} {
		if err := Check(server); err != nil {
			t.Errorf("%s: %v", server, err)
		}
	}
}
