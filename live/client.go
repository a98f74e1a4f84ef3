//go:build linux

package live

import (
	"errors"
	"io"

	"redlocksim/internal/child"
	"redlocksim/live/internal/client"
	"redlocksim/live/internal/messages"
)

// Client is all that a client process does: it reads orders from in and writes what happens to out, until in ends.
// An error is also written to out.
func Client(in io.Reader, out io.Writer) error {
	if err := child.AdoptOrphans(); err != nil { // a lock program's stand still and end with it
		return err
	}
	return messages.Serve(in, out, func(first messages.Order, notices *messages.Writer) (func(messages.Order), error) {
		if first.Begin == nil {
			return nil, errors.New("live: the first order: not what begins")
		}
		c, err := client.New(first.Begin, notices)
		if err != nil {
			return nil, err
		}
		return c.Obey, nil
	})
}
