// Package looks has observers understand what a semaphore does: a call that wants a permit looks for one by calls of the
// client's own, one for each permit, most of which may find that somebody has it. So the context of such a call says that it is
// a look, and the semaphore says itself when it has given up.
package looks

import (
	"context"
	"time"
)

// Client is what a client of package redlock lends a semaphore.
type Client struct {
	// During is for a call of the semaphore. It refuses what Lock refuses before it asks any node, with the same errors, and
	// derives a context that also ends when the client is closed, with the cause ErrClosed. The caller must call end when the
	// call ends; Close waits for that.
	During func(ctx context.Context, resource string, ttl time.Duration) (during context.Context, end func(), err error)
	// Delay draws a delay from the range of WithRetryDelay, whose end is RetryMax.
	Delay    func() (time.Duration, error)
	RetryMax time.Duration
	// Below draws a number below a positive one.
	Below func(int64) (int64, error)
}

// Lent is what a *redlock.Client lends. Package redlock sets it.
var Lent func(client any) Client

// look is on what a call of a semaphore looks for a permit, or the semaphore itself, and for how long it had waited then.
type look struct {
	resource string
	waited   time.Duration
}

type (
	lookKey   struct{}
	tellerKey struct{}
)

// With is the context of a look.
func With(ctx context.Context, resource string, waited time.Duration) context.Context {
	return context.WithValue(ctx, lookKey{}, look{resource, waited})
}

// Of says whether what is observed of a resource in a context is of a semaphore's call, and for how long that had waited
// before. The work under a permit has the same context, and locks of its own.
func Of(ctx context.Context, resource string) (waited time.Duration, is bool) {
	l, _ := ctx.Value(lookKey{}).(look)
	if l.resource != resource {
		return 0, false
	}
	return l.waited, true
}

// Telling is a context by which GaveUp reaches an observer.
func Telling(ctx context.Context, gaveUp func(ctx context.Context, resource string, err error)) context.Context {
	return context.WithValue(ctx, tellerKey{}, gaveUp)
}

// GaveUp tells the observer, if there is one, that a call of the semaphore has waited for so long and ends without a permit.
func GaveUp(ctx context.Context, semaphore string, waited time.Duration, err error) {
	if tell, is := ctx.Value(tellerKey{}).(func(context.Context, string, error)); is {
		tell(With(ctx, semaphore, waited), semaphore, err)
	}
}
