//go:build unix

package rueidis_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	client "github.com/redis/rueidis"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/rueidis"
)

func TestMain(m *testing.M) { adaptertest.Main(m) }

var own = adaptertest.Adapter{
	Open: func(t testing.TB, c adaptertest.Config, addrs ...string) ([]driver.Node, func() error) {
		t.Helper()
		nodes, err := rueidis.Opener{Runtime: c.Runtime, Options: func(o *client.ClientOption) {
			o.Username, o.Password = c.Username, c.Password
			if c.Dial != nil {
				o.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return c.Dial(ctx, "tcp", addr)
				}
			}
		}}.Open(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		return nodes, nodes.Close
	},
	ErrCommands:     rueidis.ErrCommands,
	ErrClosed:       client.ErrClosing,
	AnswersTogether: true,
}

// What adapters have in common.
func TestAdapter(t *testing.T) { adaptertest.Run(t, own) }
