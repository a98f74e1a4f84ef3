package redlock

import (
	"context"
	"errors"
	"fmt"

	"redlocksim/redlock/driver"
)

// WithTokens takes the fencing tokens from a source that no failure of a node can set back, in place of [WithFencing]'s
// counters on the nodes. Each attempt that a quorum agreed to draws one, and the time that this takes is taken from the
// validity. The source has as long to answer as a node; if it fails, so does the attempt. The error then matches
// [ErrNoToken] and what the source returned, but the error of a context only if the caller's has ended.
//
// Of two grants that do not overlap, the later one has the higher token: it was drawn later. Storage that rejects a lower token
// than it has seen is safe whatever the nodes have forgotten.
func WithTokens(source driver.TokenSource) Option {
	return option("WithTokens", func(s *settings) error {
		if source == nil {
			return fmt.Errorf("%w: a nil source of tokens", ErrInvalid)
		}
		s.source = source
		return nil
	})
}

// draw takes the token of a grant from the client's source, if it has one. The source has as long as a node has to answer.
func (a *acquisition) draw(ctx context.Context) error {
	c := a.client
	if c.source == nil {
		return nil
	}
	within, cancel := c.clock.WithDeadline(ctx, c.clock.Now().Add(c.nodeTimeout))
	defer cancel()
	token, err := c.source.Token(within, a.keys)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // the source's own: ctx has not ended
		return fmt.Errorf("%w: the source did not answer in time: %v", ErrNoToken, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoToken, err)
	case token <= 0:
		return fmt.Errorf("%w: the source gave %d", ErrNoToken, token)
	}
	a.token = token
	return nil
}
