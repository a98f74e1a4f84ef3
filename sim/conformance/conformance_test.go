//go:build linux

package conformance

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/internal/adaptertest"
	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

// TestEveryCommandIsDrawn: the model has no command that is not compared with the others'.
func TestEveryCommandIsDrawn(t *testing.T) {
	for _, name := range model.Commands() {
		if name != "PUBLISH" && !slices.ContainsFunc(drawn(true), func(words []string) bool { return words[0] == name }) {
			t.Errorf("nothing compares the model's %s with Redis': it has no entry in commands", name)
		}
	}
}

// TestSimulatedNodes needs nothing but Go.
func TestSimulatedNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAllOf(t, rapid.SampledFrom([]redis.Software{redis.Redis70, redis.Redis84, redis.Valkey81, redis.Valkey91}).Draw(t, "server"),
			rapid.SampledFrom([]redis.Persistence{redis.NoPersistence, redis.Always}).Draw(t, "persistence"), nil)
		defer a.close()
		a.sequence(t)
	})
}

// TestAgainstRedisServer is the same with a redis-server.
func TestAgainstRedisServer(t *testing.T) { AgainstServer(t, adaptertest.GoRedis) }
