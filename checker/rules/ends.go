package rules

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// ends watches that the contexts of leases end for the right cause, and those of a protocols.Warner in time.
type ends struct {
	*watch
	leases []*lasting
}

// lasting is a lease whose context has not ended.
type lasting struct {
	lease    protocols.Lease
	client   *kernel.Process
	resource string
	warns    bool            // its context ends before it
	until    time.Time       // the end of the lease, by the lock clock
	at       kernel.Mono     // the same by the monotonic clock, which timers go by
	lead     kernel.Mono     // how long before that its context ends at the least
	asks     []time.Duration // the TTLs that are asked for: of the acquire, and of extends under way
	released bool            // by its holder, or about to be
}

func watchEnds(r *watch) {
	x := &ends{watch: r}
	r.onEvent(x.check)
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onEnd = append(r.onEnd, func() { x.check(nil) })
}

func (x *ends) called(c *call) {
	l := x.of(c.Lease)
	switch {
	case l == nil:
	case c.Func == protocols.ReleaseCall:
		l.released = true
	case c.Func == protocols.ExtendCall:
		l.asks = append(l.asks, c.TTL)
	}
}

func (x *ends) returned(c *call, err error) {
	if c.Lease == nil {
		return
	}
	_, warns := c.Lease.(protocols.Warner)
	switch {
	case c.Lease.Context().Done() == nil: // it never ends
	case c.Func == protocols.AcquireCall:
		l := &lasting{lease: c.Lease, client: c.client, resource: c.Resources[0], warns: warns, asks: []time.Duration{c.TTL}}
		x.look(l)
		l.asks = nil
		x.leases = append(x.leases, l)
	case !warns:
	case c.Func == protocols.ExtendCall:
		if l := x.of(c.Lease); l != nil {
			x.look(l)
			if i := slices.Index(l.asks, c.TTL); i >= 0 {
				l.asks = slices.Delete(l.asks, i, i+1)
			}
		}
		if errors.Is(err, redlock.ErrLost) && !c.Renewal && c.Lease.Context().Err() == nil {
			x.broken(c.Resources[0], "%s is told by an extend that its lease is lost, but not by the lease's context", c.Client)
		}
	case c.Func == protocols.ReleaseCall:
		x.judged++
		if c.Lease.Context().Err() == nil {
			x.broken(c.Resources[0], "%s has released the lock, but the lease's context goes on", c.Client)
		}
	}
	x.check(nil)
}

// of finds a lease whose context has not ended, as far as was seen; nil if there is none.
func (x *ends) of(lease protocols.Lease) *lasting {
	for _, l := range x.leases {
		if l.lease == lease {
			return l
		}
	}
	return nil
}

// look notes the end of the lease. Code that takes time may have come beyond that when it makes the lease: then it is to end at
// once. What such code reads of a clock that stands still is not what the timer goes by.
func (x *ends) look(l *lasting) {
	if until := l.lease.Until(); until != l.until {
		l.until = until
		l.at = l.client.Mono() + kernel.Mono(max(0, until.Sub(l.client.ProgramClock().Now())))
		if x.StepTime > 0 && l.client.Clock().Rate() != 0 {
			l.at = math.MaxInt64 - kernel.Mono(rounding)
		}
		l.lead = x.leadOf(l)
	}
}

// leadOf is how long before its end the context of a lease that has just been granted or extended ends at the least: as the
// library documents it, by the TTL that was asked for, and the shortest of those that may have been it.
func (x *ends) leadOf(l *lasting) kernel.Mono {
	if !x.isLibrary() || x.StepTime > 0 || x.Lock.Clock != kernel.Monotonic || len(l.asks) == 0 {
		return 0
	}
	left := max(0, l.until.Sub(l.client.ProgramClock().Now()))
	return kernel.Mono(protocols.Of[protocols.RedlockSettings](x.Lock).Lead(slices.Min(l.asks), left))
}

// check looks at all leases whose contexts have not ended, as far as was seen: at an event, or at another moment if it is nil.
func (x *ends) check(e *history.Event) {
	x.leases = slices.DeleteFunc(x.leases, func(l *lasting) bool {
		if l.client.Dead() {
			return true
		}
		ctx := l.lease.Context()
		if ctx.Err() == nil {
			return l.warns && x.isLate(l, "goes on")
		}
		switch cause := context.Cause(ctx); {
		case cause == redlock.ErrReleased && l.released:
		case cause == redlock.ErrLost:
			hasJustEnded := e != nil && e.Name == observe.Lost.String() && e.Process == l.client.Name()
			if l.warns && hasJustEnded && x.Lock.Clock == kernel.Monotonic { // others move on at a stroke
				x.isLate(l, "ends only now")
			}
		case cause == redlock.ErrReleased:
			x.broken(l.resource, "%s's lease ends because it was released, says its context, and nobody released it", l.client.Name())
		default:
			x.broken(l.resource, "the cause with which the context of %s's lease ends is neither that it is lost nor that it is released: %v",
				l.client.Name(), cause)
		}
		return true
	})
}

// isLate looks whether the context should have ended before. A process that is paused, or that goes on at this very moment, has
// not come to it yet.
func (x *ends) isLate(l *lasting, does string) bool {
	if !l.isOver() || !x.pauses.hasRun(l.client, x.World.Kernel.Now()) {
		return false
	}
	if x.look(l); !l.isOver() {
		return false // extended
	}
	if left := l.at - l.client.Clock().Mono(); left >= 0 {
		x.broken(l.resource, "%s's lease ends in %v by its monotonic clock, and the lease's context, which is to end %v before it, %s",
			l.client.Name(), time.Duration(left), time.Duration(l.lead), does)
	} else {
		x.broken(l.resource, "%s's lease ended %v ago by its monotonic clock, and the lease's context %s",
			l.client.Name(), time.Duration(-left), does)
	}
	return true
}

// isOver says whether the context should have ended by the monotonic clock, as far as was seen.
func (l *lasting) isOver() bool { return l.client.Clock().Mono() > l.at-l.lead+kernel.Mono(rounding) }

// believed compares the moment at which a client's belief runs out, up to which the checkers judge it, with the end of the
// lease as its holder reads it: a lock that does not tell how long it is believed in would be judged for less than it
// promises.
type believed struct {
	*watch
	leases map[int]protocols.Lease // by the acquire
}

func watchBelieved(r *watch) {
	if r.Foreign || r.StepTime > 0 {
		return
	}
	x := &believed{watch: r, leases: map[int]protocols.Lease{}}
	r.onReturn(x.returned)
	r.onEvent(x.saw, history.Expire)
}

func (x *believed) returned(c *call, err error) {
	for _, acquire := range c.Grants {
		switch {
		case c.Func == protocols.AcquireCall && err == nil:
			x.leases[acquire] = c.Lease
		case c.Func == protocols.ReleaseCall:
			delete(x.leases, acquire)
		}
	}
}

// saw judges a belief that runs out. One that ends otherwise says why.
func (x *believed) saw(e *history.Event) {
	l := x.leases[e.Grant]
	if l == nil || e.Detail != "" {
		return
	}
	delete(x.leases, e.Grant)
	x.judged++
	early := l.Until().Sub(x.World.Client(e.Process).ProgramClock().Now())
	switch {
	case early > rounding:
		x.broken(e.Resource, "%s's belief in its lease runs out %v before the lease does", e.Process, early)
	case early < -slack && x.Lock.Clock == kernel.Monotonic: // no other moves on at a stroke
		x.broken(e.Resource, "%s believes in its lease for %v after it has run out", e.Process, -early)
	}
}
