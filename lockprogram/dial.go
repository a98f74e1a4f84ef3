//go:build !wasip1

package lockprogram

import (
	"context"
	"net"
)

// Dial connects to a node. It is that of every Env.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}
