package rules

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

var leaseContextsRule = Rule{
	Name:  "lease-contexts",
	Kind:  checker.Contract,
	Needs: "the context of a lease that was released, or whose time has come",
	Doc: `
The context of a lease has ended once the lease has, as soon as the client runs; when a release returns; and when an extend
says that the lease is lost. It ends before the lease by as much as was set, or by a twentieth of the TTL that the lease was
granted or last extended with, from a millisecond to a second, but never by more than half of what was left. Its cause is lost,
or released if somebody called the release. Time is the client's monotonic clock. (*redlock*; the cause: all locks whose leases
end a context.)`,
	New: watchLeaseContexts,
}

// leaseContexts watches that the contexts of leases end for the right cause, and those of a protocols.Warner in time.
type leaseContexts struct {
	*watch
	open []*lasting
}

// lasting is a lease whose context has not ended.
type lasting struct {
	*granted
	warns bool            // its context ends before it
	until time.Time       // the end of the lease, by the lock clock
	at    kernel.Mono     // the same by the monotonic clock, which timers go by
	lead  kernel.Mono     // how long before that its context ends at the least
	asks  []time.Duration // the TTLs that are asked for: of the acquire, and of extends under way
}

func watchLeaseContexts(r *watch) {
	x := &leaseContexts{watch: r}
	r.onEvent(x.check)
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onEnd = append(r.onEnd, func() { x.check(nil) })
}

func (x *leaseContexts) called(c *call) {
	if l := x.of(c.Lease); l != nil && c.Func == protocols.ExtendCall {
		l.asks = append(l.asks, c.TTL)
	}
}

func (x *leaseContexts) returned(c *call, err error) {
	if c.Lease == nil {
		return
	}
	_, warns := c.Lease.(protocols.Warner)
	switch {
	case c.Lease.Context().Done() == nil: // it never ends
	case c.Func == protocols.AcquireCall:
		l := &lasting{granted: x.leases.of[c.Lease], warns: warns, asks: []time.Duration{c.TTL}}
		x.look(l)
		l.asks = nil
		x.open = append(x.open, l)
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
func (x *leaseContexts) of(lease protocols.Lease) *lasting {
	for _, l := range x.open {
		if l.Lease == lease {
			return l
		}
	}
	return nil
}

// look notes the end of the lease. Code that takes time may have come beyond that when it makes the lease: then it is to end at
// once. What such code reads of a clock that stands still is not what the timer goes by.
func (x *leaseContexts) look(l *lasting) {
	if until := l.Until(); until != l.until {
		l.until = until
		l.at = l.by.client.Mono() + kernel.Mono(max(0, until.Sub(l.by.client.ProgramClock().Now())))
		if x.StepTime > 0 && l.by.client.Clock().Rate() != 0 {
			l.at = math.MaxInt64 - kernel.Mono(rounding)
		}
		l.lead = x.leadOf(l)
	}
}

// leadOf is how long before its end the context of a lease that has just been granted or extended ends at the least: as the
// library documents it, by the TTL that was asked for, and the shortest of those that may have been it.
func (x *leaseContexts) leadOf(l *lasting) kernel.Mono {
	if !x.isLibrary() || x.StepTime > 0 || x.Lock.Clock != kernel.Monotonic || len(l.asks) == 0 {
		return 0
	}
	left := max(0, l.until.Sub(l.by.client.ProgramClock().Now()))
	return kernel.Mono(protocols.Of[protocols.RedlockSettings](x.Lock).Lead(slices.Min(l.asks), left))
}

// check looks at all leases whose contexts have not ended, as far as was seen: at an event, or at another moment if it is nil.
func (x *leaseContexts) check(e *history.Event) {
	x.open = slices.DeleteFunc(x.open, func(l *lasting) bool {
		if l.by.client.Dead() {
			return true
		}
		ctx := l.Context()
		if ctx.Err() == nil {
			return l.warns && x.isLate(l, "goes on")
		}
		switch cause := context.Cause(ctx); {
		case cause == redlock.ErrReleased && l.release != nil:
		case cause == redlock.ErrLost:
			hasJustEnded := e != nil && e.Name == observe.Lost.String() && e.Process == l.by.client.Name()
			if l.warns && hasJustEnded && x.Lock.Clock == kernel.Monotonic { // others move on at a stroke
				x.isLate(l, "ends only now")
			}
		case cause == redlock.ErrReleased:
			x.broken(l.by.Resources[0], "%s's lease ends because it was released, says its context, and nobody released it", l.by.client.Name())
		default:
			x.broken(l.by.Resources[0], "the cause with which the context of %s's lease ends is neither that it is lost nor that it is released: %v",
				l.by.client.Name(), cause)
		}
		return true
	})
}

// isLate looks whether the context should have ended before. A process that is paused, or that goes on at this very moment, has
// not come to it yet.
func (x *leaseContexts) isLate(l *lasting, does string) bool {
	if !l.isOver() || !x.standstills.hasRun(l.by.client, x.World.Kernel.Now()) {
		return false
	}
	if x.look(l); !l.isOver() {
		return false // extended
	}
	if left := l.at - l.by.client.Clock().Mono(); left >= 0 {
		x.broken(l.by.Resources[0], "%s's lease ends in %v by its monotonic clock, and the lease's context, which is to end %v before it, %s",
			l.by.client.Name(), time.Duration(left), time.Duration(l.lead), does)
	} else {
		x.broken(l.by.Resources[0], "%s's lease ended %v ago by its monotonic clock, and the lease's context %s",
			l.by.client.Name(), time.Duration(-left), does)
	}
	return true
}

// isOver says whether the context should have ended by the monotonic clock, as far as was seen.
func (l *lasting) isOver() bool {
	return l.by.client.Clock().Mono() > l.at-l.lead+kernel.Mono(rounding)
}
