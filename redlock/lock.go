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

// Lock acquires the lock on the resource, trying again after a random delay until ctx ends. The lease is good for less
// than ttl, which must be a positive whole number of milliseconds and larger than its drift allowance.
//
// Callers of one client that want the same resources queue inside the client, in the order of their calls. Only the first
// asks the nodes, and only when no lease of this client on the same resources is left, so that the nodes are asked no
// more often however many wait. The next is woken as soon as a quorum of nodes has confirmed the release. After 16 grants
// in a row the client waits for one retry delay, or with [WithWakeUp] for its spread, so that other processes get their
// turn. A caller that gives up leaves the queue at once, and the next asks behind its releases; but of those who give up one after
// the other not all are followed at once, so that the nodes are asked at most twice in a retry delay, however many do.
//
// It returns an error that matches [ErrInvalid] for bad arguments, [ErrClosed] if the client was closed before, or an
// [*Error] that matches [ErrNotAcquired] and what ended the call: the context's error, ErrClosed, or the error of the
// source of random bytes. Of a call that never had its turn, it matches ErrTaken if this client had the lock, and otherwise
// why the last attempt of those before it failed. However it ends, what it has set is released on every node that answers; on others it expires.
func (c *Client) Lock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	return c.LockAll(ctx, []string{resource}, ttl)
}

// LockAll acquires one lock on several resources, all of them or none, in one round as [Client.Lock] does for one: a node
// votes for all or for none. Resources may be given in any order, each once; an error matches [ErrInvalid] otherwise. Two
// calls that want the same resources in different orders cannot block each other, since neither ever holds only a part.
// Every lock is released, extended and lost as a whole. Callers queue with those that want exactly the same resources.
func (c *Client) LockAll(ctx context.Context, resources []string, ttl time.Duration) (*Lease, error) {
	defer c.end()
	keys, t, err := c.admit(ctx, resources, ttl)
	if err != nil {
		return nil, err
	}
	turn := c.join(keys, t)
	defer turn.leave()
	for {
		if err := turn.await(ctx); err != nil {
			return nil, turn.giveUp(ctx, err)
		}
		if lease := turn.attempt(ctx); lease != nil {
			return lease, nil
		}
	}
}

// TryLock acquires the lock on the resource if that is possible at once: it makes a single attempt, whoever waits in this
// client. Otherwise it is as [Client.Lock].
func (c *Client) TryLock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	return c.TryLockAll(ctx, []string{resource}, ttl)
}

// TryLockAll is [Client.LockAll] with a single attempt.
func (c *Client) TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (*Lease, error) {
	defer c.end()
	keys, t, err := c.admit(ctx, resources, ttl)
	if err != nil {
		return nil, err
	}
	lease, failed := c.attempt(ctx, &call{keys: keys, term: t})
	if failed != nil {
		return nil, failed.final()
	}
	return lease, nil
}

// admit counts a call in, which must be counted out with end, and checks its arguments before anything is sent. It gives
// the resources in their order as keys.
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

// keysOf sorts resources, so that the same ones are always the same lock, and refuses what cannot be one.
func (c *Client) keysOf(resources []string) ([]string, error) {
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
		case c.isConditional() && !driver.IsLockKey(key):
			return nil, fmt.Errorf("%w: resource %q has a name that fencing and the restart guard keep for themselves", ErrInvalid, printable.Short(key, shownName))
		}
	}
	return keys, nil
}

// maxResource is the longest name of a resource, in bytes. It is the key on the nodes, and part of the names of counters and
// channels.
const maxResource = 4096

// nameOf is the name of a lock on some keys.
func nameOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return strings.Join(keys, ", ")
}
