package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
)

// caller is a call that waits for the lock. Callers of a client that want the same resources are served in the order in which
// they came, one at a time, and only while the client has no lease on them. One whose attempt came too late goes behind the
// others. One that stands in line at a gate asks as soon as it is called.
type caller struct {
	name        string
	last        *acquisition // its last attempt
	refused     error        // the reason of its last attempt that was denied for one; nil if none was
	isTold      bool         // that it waits
	until       time.Time    // to which it gives way; zero if it was not told so since its last attempt
	isQueued    bool
	queuedAfter *acquisition // its last attempt when it was put in its place
	inVain      time.Time    // when its first attempt was denied; zero before
	waits       bool         // for something else than its retry, since its last attempt began
	isCalled    bool         // to the lock, since then
	isDone      bool         // granted, or given up
}

func (c *Client) caller(e *Event) *caller {
	x := c.callers[e.Call]
	if x == nil {
		x = &caller{name: e.Resource}
		c.callers[e.Call] = x
	}
	return x
}

// misnamed says that a step is about another resource than its call.
func (x *caller) misnamed(e *Event) string {
	return fmt.Sprintf("it is about %q, and the call about %q", e.Resource, x.name)
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
	case e.Resource != x.name:
		return violation(x.misnamed(&e))
	case x.last == nil && e.Value != e.Call, x.last != nil && c.acquisitions[e.Value] != x.last:
		return violation("it has the value of another attempt")
	}
	x.waits, x.isCalled = true, false
	switch e.Step {
	case observe.Yielding:
		x.isTold, x.until = true, e.At.Add(e.Delay)
		if _, longest := c.settings.delays(); e.Delay < 0 || e.Delay > max(longest, c.settings.WakeUp) {
			return violation(fmt.Sprintf("it gives way for %v, and at most for %v", e.Delay, max(longest, c.settings.WakeUp)))
		}
		if x.last != nil && c.settings.WakeUp == 0 && e.At.Before(x.last.retryAt) {
			return violation(fmt.Sprintf("its retry delay is over in %v only", x.last.retryAt.Sub(e.At)))
		}
	case observe.Queued:
		x.isTold = true
		goesLast := x.last != nil && x.last.refusal.Reason == redlock.ErrTooLate && x.queuedAfter != x.last
		if !x.isQueued || goesLast {
			x.isQueued, x.queuedAfter = true, x.last
			c.enqueue(x, x.last != nil && !goesLast)
		}
	case observe.GaveUp:
		if x.last == nil && !x.isTold {
			return violation("it has not asked, and nobody was told that it waits")
		}
		c.done(e.Call)
		if why := x.givesUp(&e, &c.settings); why != "" {
			return violation(why)
		}
	}
	return nil
}

// givesUp says what is wrong with the error with which a call gives up. It is that of its last attempt, with a cause if
// something kept the call from another one, and with the reason of an earlier attempt if the caller's context ended during the
// last. An attempt that failed before it sent anything counts as well.
func (x *caller) givesUp(e *Event, s *Settings) (why string) {
	made, isUnsent := x.attempts(), false
	if told := (*redlock.Error)(nil); x.last != nil && errors.As(e.Err, &told) && told.Nodes == nil && told.Attempts == made+1 {
		made, isUnsent = made+1, true
	}
	told, why := s.errorOf(e, made)
	switch {
	case why != "" || isUnsent:
		return why
	case x.last == nil && (told.Cause == nil || told.Nodes != nil):
		return "it has not asked, and does not say why"
	case x.last == nil:
		return ""
	case told.Reason != x.reason(), x.last.refusal.Cause != nil && told.Cause != x.last.refusal.Cause:
		return fmt.Sprintf("its error says %q, and its last attempt ended with %q", told, x.last.refusal)
	}
	return x.last.votes.of(told, s)
}

// reason is why a call was refused: for what its last attempt was, unless the caller's context ended that.
func (x *caller) reason() error {
	if of := x.last.refusal; of.Reason != nil || !isCallers(of.Cause) {
		return of.Reason
	}
	return x.refused
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

// enqueue has a call wait behind all others. One that had its turn, and gives it up only for a lease that TryLock got, is still
// the first.
func (c *Client) enqueue(x *caller, isFirst bool) {
	c.unqueue(x)
	at := len(c.queued)
	if isFirst {
		at = 0
	}
	c.queued = slices.Insert(c.queued, at, x)
}

func (c *Client) unqueue(x *caller) {
	c.queued = slices.DeleteFunc(c.queued, func(q *caller) bool { return q == x })
}

// done notes that a call has ended.
func (c *Client) done(call string) {
	if x := c.callers[call]; x != nil {
		x.isDone = true
		c.unqueue(x)
	}
}

// asks says what is wrong with a call's next attempt.
func (c *Client) asks(e *Event) (why string) {
	x := c.caller(e)
	switch {
	case x.isDone:
		return "the call has ended"
	case e.Resource != x.name:
		return x.misnamed(e)
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
	case x.last != nil && c.settings.WakeUp == 0 && e.At.Before(x.last.retryAt):
		return fmt.Sprintf("%v before the delay is over", x.last.retryAt.Sub(e.At))
	case c.settings.WakeUp == 0 && e.At.Before(x.until):
		return fmt.Sprintf("%v before it has given way", x.until.Sub(e.At))
	case x.isCalled && e.Waited > 0:
		return fmt.Sprintf("it was called to the lock, and has slept for %v all the same", e.Waited)
	}
	x.until, x.waits, x.isCalled = time.Time{}, false, false
	if x.isQueued {
		if why := c.turn(x, e.At); why != "" {
			return why
		}
	}
	return ""
}

// Called takes the news that a node calls the client to the lock on a key. A call stands in line there if its last attempt has
// asked a gate.
func (c *Client) Called(key string) {
	for _, x := range c.callers {
		if !x.isDone && !x.waits && x.last != nil && len(x.last.gates) > 0 && slices.Contains(strings.Split(x.name, ", "), key) {
			x.isCalled = true
		}
	}
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
	least, most := c.settings.delays()
	x := c.callers[a.call]
	switch {
	case c.settings.WakeUp != 0: // who does not stand in line yet asks soon
		least = 0
	case c.settings.RetryMax == 0 && x != nil && !x.isTold: // it found no queue, whose delay would have grown before
		most = min(most, max(e.At.Sub(x.inVain)/2, shortest+shortest/2))
	}
	switch {
	case !a.retryAt.IsZero():
		return "it was told before"
	case e.Delay < least || e.Delay > most:
		return fmt.Sprintf("in %v, where it is %v to %v", e.Delay, least, most)
	case e.Err != a.refusal.Reason:
		return fmt.Sprintf("it says %q, and the attempt was denied with %q", e.Err, a.refusal)
	}
	a.retryAt = e.At.Add(e.Delay)
	return ""
}

// delays are the shortest and the longest delay before a retry.
func (s *Settings) delays() (least, most time.Duration) {
	if s.RetryMax == 0 {
		return shortest / 2, 150 * time.Millisecond
	}
	return s.RetryMin, s.RetryMax
}

// shortest is the delay with which a growing one begins, less or more a half. Then it is a third of the time that a call has
// been refused, less or more a half.
const shortest = time.Millisecond
