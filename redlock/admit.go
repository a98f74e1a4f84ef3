package redlock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
)

// admit counts a call in, checks its arguments before anything is sent, and returns the resources as sorted keys. The caller
// must count the call out with end, also after an error.
func (c *Client) admit(ctx context.Context, resources []string, ttl time.Duration) ([]string, term, error) {
	closed := c.begin()
	if ctx == nil {
		return nil, term{}, fmt.Errorf("%w: nil context", ErrInvalid)
	}
	keys, err := c.keysOf(resources)
	if err != nil {
		return nil, term{}, err
	}
	t, err := c.term(ttl)
	if err != nil {
		return nil, term{}, err
	}
	if closed {
		return nil, term{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, term{}, &Error{Op: driver.OpAcquire, Resource: nameOf(keys), Cause: err}
	}
	return keys, t, nil
}

// term checks a TTL. The last one is remembered: programs use few, and decimal arithmetic is slow.
func (c *Client) term(ttl time.Duration) (term, error) {
	if t := c.lastTerm.Load(); t != nil && t.ttl == ttl {
		return *t, nil
	}
	if ttl <= 0 || ttl%time.Millisecond != 0 {
		return term{}, fmt.Errorf("%w: TTL %v is not a positive whole number of milliseconds, as Redis keeps it", ErrInvalid, ttl)
	}
	t := term{ttl: ttl, drift: c.drift.of(ttl)}
	if ttl <= t.drift {
		return term{}, fmt.Errorf("%w: TTL %v is not larger than its drift allowance %v, no grant could be valid", ErrInvalid, ttl, t.drift)
	}
	if c.isGuarded() && ttl > c.maxTTL {
		return term{}, fmt.Errorf("%w: TTL %v is larger than %v, the largest by the restart guard", ErrInvalid, ttl, c.maxTTL)
	}
	if c.isFenced() && ttl > c.counterTTL {
		return term{}, fmt.Errorf("%w: TTL %v is larger than %v, for which the fencing counters are kept", ErrInvalid, ttl, c.counterTTL)
	}
	c.lastTerm.Store(&t)
	return t, nil
}

// keysOf sorts the resources, so that the same ones are always the same lock, and rejects what cannot be one.
func (s *settings) keysOf(resources []string) ([]string, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("%w: no resource", ErrInvalid)
	}
	keys := slices.Clone(resources)
	slices.Sort(keys)
	for i, key := range keys {
		switch {
		case key == "":
			return nil, fmt.Errorf("%w: empty resource", ErrInvalid)
		case len(key) > maxResource:
			return nil, fmt.Errorf("%w: resource %q is longer than %d bytes", ErrInvalid, printable.Short(key, shownName), maxResource)
		case i > 0 && key == keys[i-1]:
			return nil, fmt.Errorf("%w: resource %q is named twice", ErrInvalid, printable.Short(key, shownName))
		case s.isConditional() && !driver.IsLockKey(key):
			return nil, fmt.Errorf("%w: resource %q has a name that fencing and the restart guard keep for themselves", ErrInvalid, printable.Short(key, shownName))
		}
	}
	return keys, nil
}

// maxResource is the longest name of a resource, in bytes.
const maxResource = 4096

// nameOf is the name of a lock on some keys.
func nameOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return strings.Join(keys, ", ")
}
