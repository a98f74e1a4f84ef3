package spec

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/redlock/observe"
)

// caller is a call that waits for the lock. Callers of a client that want the same resources are served in the order in which
// they came, one at a time, and only while the client has no lease on them.
type caller struct {
	name     string
	last     *acquisition // its last attempt
	isTold   bool         // that it waits
	isQueued bool
	isDone   bool // granted, or given up
}

func (c *Client) caller(e *Event) *caller {
	x := c.callers[e.Call]
	if x == nil {
		x = &caller{name: e.Resource}
		c.callers[e.Call] = x
	}
	return x
}

// wait is a step between attempts.
func (c *Client) wait(e Event) error {
	x := c.caller(&e)
	violation := func(why string) error { return &Violation{Event: e, State: "a call waits", Why: why} }
	switch {
	case x.isDone:
		return violation("the call has ended")
	case x.last != nil && x.last.state != denied:
		return violation("its attempt is not over: " + x.last.state.String())
	case e.Attempt != x.attempts():
		return violation(fmt.Sprintf("it has made %d attempts, and the step is told of attempt %d", x.attempts(), e.Attempt))
	}
	switch e.Step {
	case observe.Yielding:
		x.isTold = true
	case observe.Queued:
		x.isTold = true
		if !x.isQueued {
			x.isQueued = true
			c.enqueue(x)
		}
	case observe.GaveUp:
		if e.Err == nil {
			return violation("without a reason")
		}
		if x.last == nil && !x.isTold {
			return violation("it has not asked, and nobody was told that it waits")
		}
		c.done(e.Call)
	}
	return nil
}

// attempts is how many attempts a call has made.
func (x *caller) attempts() int {
	if x.last == nil {
		return 0
	}
	return x.last.number
}

// Forgotten says for which lock a call waits that was neither granted nor given up; empty if none does. No call of the
// client may be under way: what is known of its calls is forgotten with that.
func (c *Client) Forgotten() (name string) {
	for _, x := range c.callers {
		if !x.isDone && (name == "" || x.name < name) {
			name = x.name
		}
	}
	clear(c.callers)
	return name
}

// enqueue has a call wait behind all others, or before them if it has made attempts: then it had its turn already, and gives it
// up only for a lease that TryLock got.
func (c *Client) enqueue(x *caller) {
	at := len(c.queued)
	if x.last != nil {
		at = 0
	}
	c.queued = slices.Insert(c.queued, at, x)
}

// done notes that a call has ended.
func (c *Client) done(call string) {
	if x := c.callers[call]; x != nil {
		x.isDone = true
		c.queued = slices.DeleteFunc(c.queued, func(q *caller) bool { return q == x })
	}
}

// asks says what is wrong with a call's next attempt.
func (c *Client) asks(e *Event) (why string) {
	x := c.caller(e)
	switch {
	case x.isDone:
		return "the call has ended"
	case e.Attempt != x.attempts()+1:
		return fmt.Sprintf("attempt %d follows attempt %d", e.Attempt, x.attempts())
	case x.last == nil && e.Call != e.Value:
		return "the first attempt does not name the call"
	case x.last == nil && !x.isTold && e.Waited > 0:
		return fmt.Sprintf("it has waited for %v, and nobody was told", e.Waited)
	case x.last != nil && x.last.state != denied:
		return "the attempt before is not over: " + x.last.state.String()
	case x.last != nil && x.last.retryAt.IsZero():
		return "no retry was told"
	case x.last != nil && !c.settings.WakeUp && e.At.Before(x.last.retryAt):
		return fmt.Sprintf("%v before the delay is over", x.last.retryAt.Sub(e.At))
	}
	if x.isQueued {
		if why := c.turn(x, e.At); why != "" {
			return why
		}
	}
	return ""
}

// turn says why it is not the turn of a call that was told to wait.
func (c *Client) turn(x *caller, now time.Time) (why string) {
	for _, earlier := range c.queued {
		if earlier == x {
			break
		}
		if earlier.name == x.name {
			return "a call that came earlier still waits for " + x.name
		}
	}
	for _, a := range c.leases {
		if a.state == held && a.name == x.name && now.Before(a.until) {
			return "this client holds " + x.name
		}
	}
	return ""
}

// retrying is the wait before the next attempt.
func (c *Client) retrying(a *acquisition, e *Event) (why string) {
	switch {
	case !a.retryAt.IsZero():
		return "it was told before"
	case e.Delay < c.settings.RetryMin || e.Delay > c.settings.RetryMax:
		return fmt.Sprintf("in %v, where %v to %v are configured", e.Delay, c.settings.RetryMin, c.settings.RetryMax)
	}
	a.retryAt = e.At.Add(e.Delay)
	return ""
}
