//go:build unix

package workers

import (
	"strings"
	"testing"

	"redlocksim/internal/adaptertest"
)

// What a Redis says is bounded: it is no reason to take gigabytes, or to panic.
func TestHostileRedis(t *testing.T) {
	for _, s := range adaptertest.Sayings {
		if s.First == "" || s.Again == "" {
			continue // those that announce nothing
		}
		for _, from := range []adaptertest.Stage{adaptertest.Handshake, "ping"} {
			t.Run(string(from)+"/"+s.Name, func(t *testing.T) {
				at, err := ParseAddress("redis://" + adaptertest.Hostile(t, s, from))
				if err != nil {
					t.Fatal(err)
				}
				pool, err := Open(t.Context(), at, "build", func(string) {})
				if err == nil {
					_ = pool.Close()
					t.Fatal("it is taken for a Redis")
				}
				if !strings.Contains(err.Error(), "the server ") {
					t.Error(err)
				}
			})
		}
	}
}
