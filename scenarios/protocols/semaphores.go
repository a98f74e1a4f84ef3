package protocols

import (
	"context"
	"strconv"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/semaphore"
)

// Semaphores is a Locker that has semaphores.
type Semaphores interface {
	// Permit takes a permit. It has every attempt to take one made by c.Try, which keeps what is granted.
	Permit(ctx context.Context, c *PermitCall) error
}

// PermitCall is a call for a permit of a semaphore.
type PermitCall struct {
	Client    string
	Semaphore string
	// Permits is how many there are, each a resource; see PermitOf.
	Permits int
	TTL     time.Duration
	// Waits says that the call looks for a permit until it is granted one, instead of once.
	Waits bool
	// Context is that of the call.
	Context context.Context
	// Try makes an attempt to take a lock on a resource, which stands for a permit, and writes it down.
	Try func(ctx context.Context, resource string, ttl time.Duration, try func(context.Context) (Lease, error)) error
}

// PermitOf is the resource of a permit of a semaphore, which are numbered from 1.
func PermitOf(semaphore string, number int) string { return semaphore + "/" + strconv.Itoa(number) }

type permitCallKey struct{}

// Permit implements Semaphores, with package semaphore.
func (x *shipped) Permit(ctx context.Context, c *PermitCall) error {
	s := x.semaphores[c.Semaphore]
	if s == nil {
		var err error
		if s, err = semaphore.New(attempts{x.client, x}, c.Semaphore, c.Permits); err != nil {
			return err
		}
		x.semaphores[c.Semaphore] = s
	}
	take := s.TryAcquire
	if c.Waits {
		take = s.Acquire
	}
	x.env.Leave()
	permit, err := take(context.WithValue(ctx, permitCallKey{}, c), c.TTL)
	x.env.Enter()
	if err == nil {
		x.granted[permit.Value()].permit = permit
		delete(x.granted, permit.Value())
	}
	return err
}

// attempts is a client whose attempts to take a lock for a semaphore are written down.
type attempts struct {
	*redlock.Client
	library *shipped
}

// TryLock implements semaphore.Locks.
func (a attempts) TryLock(ctx context.Context, resource string, ttl time.Duration) (lease *redlock.Lease, err error) {
	x, call := a.library, ctx.Value(permitCallKey{}).(*PermitCall)
	x.env.Enter()
	defer x.env.Leave()
	err = call.Try(ctx, resource, ttl, func(ctx context.Context) (Lease, error) {
		x.env.Leave()
		l, err := a.Client.TryLock(ctx, resource, ttl)
		x.env.Enter()
		if err != nil {
			return nil, err
		}
		lease = l
		held := x.lease(l, ttl)
		x.granted[l.Value()] = held
		return held, nil
	})
	return lease, err
}
