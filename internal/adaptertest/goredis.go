//go:build unix

package adaptertest

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// GoRedis is the shipped adapter.
var GoRedis = Adapter{
	Open: func(t testing.TB, c Config, addrs ...string) ([]driver.Node, func() error) {
		t.Helper()
		nodes, err := goredis.Opener{Runtime: c.Runtime, Options: func(o *redis.Options) {
			o.Username, o.Password, o.Dialer = c.Username, c.Password, c.Dial
		}}.Open(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		return nodes, nodes.Close
	},
	ErrCommands: goredis.ErrCommands,
	ErrClosed:   redis.ErrClosed,
}
