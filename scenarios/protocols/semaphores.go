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

// PermitHolder is a Locker with semaphores that does work under permits, which it renews meanwhile and gives back.
type PermitHolder interface {
	// HoldPermit takes a permit, as Permit does, and does c.Work under it.
	HoldPermit(ctx context.Context, c *PermitCall) error
	// HoldAll takes all permits, each by c.Try, and does c.Work under them.
	HoldAll(ctx context.Context, c *PermitCall) error
}

// PermitCall is a call for a permit of a semaphore, or for all of them.
type PermitCall struct {
	Client    string
	Semaphore string
	// Permits is how many there are, each a resource; see PermitOf.
	Permits int
	TTL     time.Duration
	// Waits says that the call looks for a permit until it is granted one, instead of once.
	Waits bool
	// All says that the call takes all permits.
	All bool
	// Work is what a PermitHolder does under what it has taken, and Renewal how it renews that. No work must be refused.
	Work    func(context.Context) error
	Renewal Renewal
	// Context is that of the call.
	Context context.Context
	// Try makes an attempt to take a lock on a resource, which stands for a permit, and writes it down.
	Try func(ctx context.Context, resource string, ttl time.Duration, try func(context.Context) (Lease, error)) error
}

// PermitOf is the resource of a permit of a semaphore, which are numbered from 1.
func PermitOf(semaphore string, number int) string { return semaphore + "/" + strconv.Itoa(number) }

// AllOf is the resource that a call for all permits of a semaphore takes besides, which no other call takes.
func AllOf(semaphore string) string { return semaphore + "/all" }

type permitCallKey struct{}

// Kept is a Lease that is renewed and released by the call which took it.
type Kept interface {
	// Keeps has r told of that.
	Keeps(ctx context.Context, r Renewal)
}

// in is the context of a call, in which its attempts are known as its own; nil if ctx is.
func (c *PermitCall) in(ctx context.Context) context.Context {
	if ctx == nil {
		return nil
	}
	return context.WithValue(ctx, permitCallKey{}, c)
}

// semaphoreOf is what a semaphore is made with.
type semaphoreOf struct {
	name    string
	permits int
}

// semaphore is the one that a call is about.
func (x *shipped) semaphore(c *PermitCall) (*semaphore.Semaphore, error) {
	of := semaphoreOf{c.Semaphore, c.Permits}
	if s := x.semaphores[of]; s != nil {
		return s, nil
	}
	s, err := semaphore.New(attempts{x.client, x}, of.name, of.permits)
	if err == nil {
		x.semaphores[of] = s
	}
	return s, err
}

// Permit implements Semaphores, with package semaphore.
func (x *shipped) Permit(ctx context.Context, c *PermitCall) error {
	s, err := x.semaphore(c)
	if err != nil {
		return err
	}
	take := s.TryAcquire
	if c.Waits {
		take = s.Acquire
	}
	x.env.Leave()
	permit, err := take(c.in(ctx), c.TTL)
	x.env.Enter()
	if err == nil {
		x.permitted(permit)
	}
	return err
}

// permitted notes which permit a lease is.
func (x *shipped) permitted(permit *semaphore.Permit) {
	x.granted[permit.Value()].permit = permit
	delete(x.granted, permit.Value())
}

// HoldPermit implements PermitHolder.
func (x *shipped) HoldPermit(ctx context.Context, c *PermitCall) error {
	s, err := x.semaphore(c)
	if err != nil {
		return err
	}
	x.env.Leave()
	defer x.env.Enter() // also after a panic of the work
	var work func(context.Context, *semaphore.Permit) error
	if c.Work != nil {
		work = func(ctx context.Context, permit *semaphore.Permit) error {
			x.env.Enter()
			defer x.env.Leave()
			x.permitted(permit)
			return c.Work(ctx)
		}
	}
	return s.Hold(c.in(ctx), c.TTL, c.Renewal.library(), work)
}

// HoldAll implements PermitHolder.
func (x *shipped) HoldAll(ctx context.Context, c *PermitCall) error {
	s, err := x.semaphore(c)
	if err != nil {
		return err
	}
	x.env.Leave()
	defer x.env.Enter()
	var work func(context.Context, *redlock.Lease) error
	if c.Work != nil {
		work = func(ctx context.Context, _ *redlock.Lease) error {
			x.env.Enter()
			defer x.env.Leave()
			return c.Work(ctx)
		}
	}
	return s.HoldAll(c.in(ctx), c.TTL, c.Renewal.library(), work)
}

// Keeps implements Kept.
func (l *shippedLease) Keeps(ctx context.Context, r Renewal) {
	l.library.renewing[l.Value()] = &renewing{Renewal: r, in: ctx}
}

// attempts is a client whose attempts to take a lock for a semaphore are written down.
type attempts struct {
	*redlock.Client
	library *shipped
}

// Unwrap says of which client, for semaphore.Locks.
func (a attempts) Unwrap() *redlock.Client { return a.Client }

// Lock implements semaphore.Locks.
func (a attempts) Lock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error) {
	return a.try(ctx, resource, ttl, a.Client.Lock)
}

// TryLock implements semaphore.Locks.
func (a attempts) TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error) {
	return a.try(ctx, resource, ttl, a.Client.TryLock)
}

func (a attempts) try(ctx context.Context, resource string, ttl time.Duration,
	lock func(context.Context, string, time.Duration) (*redlock.Lease, error)) (lease *redlock.Lease, err error) {
	x, call := a.library, ctx.Value(permitCallKey{}).(*PermitCall)
	x.env.Enter()
	defer x.env.Leave()
	err = call.Try(ctx, resource, ttl, func(ctx context.Context) (Lease, error) {
		x.env.Leave()
		l, err := lock(ctx, resource, ttl)
		x.env.Enter()
		if err != nil {
			return nil, err
		}
		lease = l
		held := x.lease(l, ttl)
		if !call.All {
			x.granted[l.Value()] = held
		}
		return held, nil
	})
	return lease, err
}
