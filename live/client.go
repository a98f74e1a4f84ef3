//go:build linux

package live

import (
	"io"

	"redlocksim/live/internal/client"
)

// Client is all that a client process does: it reads orders from in and writes what happens to out, until in ends. An error is
// also written to out.
func Client(in io.Reader, out io.Writer) error { return client.Serve(in, out) }
