package redlock

import (
	"context"
	"fmt"
	"time"
)

// Lock acquires the lock on the resource. Until ctx ends it makes attempts, with a random delay between them. The ttl must be a
// positive whole number of milliseconds, and larger than its drift allowance; the lease lasts for less than the ttl. A resource
// is a name of up to 4096 bytes, and is the key on the nodes.
//
// An attempt asks all nodes at once. Where another client was seen to want the lock a moment ago, it asks one node first, which
// the resource gives, and the others once that has voted. After sixteen attempts of this client that were refused, one asks all
// nodes at once.
//
// Callers of one client that want the same resources queue in it, first come, first served. Only the first one asks the nodes,
// and only while this client has no lease on the resources, so the load on the nodes does not grow with the queue. The next
// caller is woken as soon as a quorum of nodes has confirmed the release. After 16 grants in a row the client pauses for one
// retry delay, or for the turn of [WithWakeUp], so that other processes get theirs: at once if one was seen to want the
// lock in the last 10 s, and else if the grants lasted for eight such pauses. A caller whose attempt came too late for its ttl
// goes behind the others. A caller can give up at any time; however many do of those that wait at the same time, the nodes are
// asked at most twice in a retry delay. A call that finds no queue asks them at once.
//
// The error matches [ErrInvalid] for bad arguments and [ErrClosed] if the client was closed before. Otherwise it is an [*Error]
// that matches [ErrNotAcquired] and what ended the call: the context's error, ErrClosed, or the error of the source of random
// bytes. It also matches the reason why the last attempt failed that the nodes decided before that. If the call never had its
// turn, that is ErrTaken if this client held the lock, and otherwise the reason why the last attempt before it failed.
//
// However the call ends, its votes are released. A node that does not confirm a release is asked again until the key has
// expired or the client is closed; of those that a node owes, the client keeps the latest 4096.
func (c *Client) Lock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	return c.LockAll(ctx, []string{resource}, ttl)
}

// LockAll acquires one lock on several resources, all or none, in one round: each node votes for all of them or for none. Name
// each resource once, in any order. Calls that want the same resources in different orders cannot deadlock, because neither
// ever holds only a part. The lock is extended, released and lost as a whole. Callers queue with those that want exactly the
// same resources. Otherwise it works like [Client.Lock].
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

// TryLock makes one attempt to acquire the lock, which asks all nodes at once, without waiting for callers in the queue.
// Otherwise it works like [Client.Lock].
func (c *Client) TryLock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	return c.TryLockAll(ctx, []string{resource}, ttl)
}

// TryLockAll is [Client.LockAll] with one attempt.
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

// Hold does work under the lock. It acquires the lock as [Client.Lock] does, calls work, renews the lease as [Lease.Renew] does
// until work returns, and releases it. It waits for the lock until ctx ends or Renewal.Wait is over; the context of work ends
// with ctx, but not with Renewal.Wait. Hold releases the lock whatever happens to ctx, even if work panics, and no renewal is
// then under way.
//
// The error is that of Lock if work was not called. Otherwise it is the error of work, joined with the loss of the lease, as
// Renew reports it, and with the error of the release, as [Lease.Unlock] reports it. If work itself released the lease, that is
// no error.
func (c *Client) Hold(ctx context.Context, resource string, ttl time.Duration, r Renewal, work func(context.Context, *Lease) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", ErrInvalid)
	}
	if err := r.Check(ttl); err != nil {
		return err
	}
	lease, err := c.lockWithin(ctx, r.Wait, resource, ttl)
	if err != nil {
		return err
	}
	return lease.Hold(ctx, r, func(ctx context.Context) error { return work(ctx, lease) })
}

// lockWithin is Lock for at most that long; zero means as long as ctx lasts.
func (c *Client) lockWithin(ctx context.Context, wait time.Duration, resource string, ttl time.Duration) (*Lease, error) {
	if wait != 0 {
		until, cancel := c.clock.WithDeadline(ctx, c.clock.Now().Add(wait))
		defer cancel()
		ctx = until
	}
	return c.Lock(ctx, resource, ttl)
}
