package redlock

import (
	"context"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// call is one call of Lock or TryLock, which makes attempts until one is granted.
type call struct {
	keys  []string
	term  term
	first string   // the value of the first attempt, if it was drawn before: observers know the call by it
	last  *failure // the last attempt; nil before the first has failed
}

// failure is an attempt that was not granted.
type failure struct {
	err         *Error
	acquisition *acquisition // the last one for which anything was sent; nil if nothing was
	release     *round       // its clean-up, under way; likewise
}

// attempt is the number of the next attempt.
func (c *call) attempt() int {
	if c.last == nil {
		return 1
	}
	return c.last.acquisition.attempt + 1
}

// next draws the value of the next attempt, and its fencing token.
func (c *call) next(ctx context.Context, client *Client) (*acquisition, error) {
	value, err := c.first, error(nil)
	if c.last != nil || value == "" {
		value, err = client.newValue()
	}
	if err != nil {
		return nil, err
	}
	a := &acquisition{client: client, ctx: valuesOf(ctx), keys: c.keys, name: nameOf(c.keys), value: value, attempt: c.attempt(), call: value}
	if c.last != nil {
		a.call = c.last.acquisition.call
	}
	if client.isFenced() {
		a.token = client.tokens.propose(c.keys, 0)
	}
	a.observe(observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire})
	return a, nil
}

// unsent is the failure of an attempt for which nothing was sent. What was sent for the one before stays the last.
func (c *call) unsent(cause error) *failure {
	f := &failure{err: &Error{Op: driver.OpAcquire, Resource: nameOf(c.keys), Attempts: c.attempt(), Cause: cause}}
	if c.last != nil {
		f.acquisition, f.release = c.last.acquisition, c.last.release
	}
	return f
}

// because is the failure with a reason why there is no further attempt. The error that the observer was shown stays as it is.
func (f *failure) because(cause error) *failure {
	err := *f.err
	err.Cause = cause
	return &failure{err: &err, acquisition: f.acquisition, release: f.release}
}

// after is the failure of an attempt that the nodes did not decide, with the reason for which the one before was refused.
func (f *failure) after(reason error) *failure {
	err := *f.err
	err.Reason = reason
	return &failure{err: &err, acquisition: f.acquisition, release: f.release}
}

// final gives the call up: nobody waits for its clean-up any more, which goes on by itself.
func (f *failure) final() error {
	if f.acquisition != nil {
		f.release.leave()
		f.acquisition.observe(observe.Event{Step: observe.GaveUp, Op: driver.OpAcquire, Err: f.err})
	}
	return f.err
}
