package redisnode

import (
	"errors"
	"fmt"
	"sync/atomic"

	"redlocksim/internal/batch"
	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
)

// Listening is why nothing is heard of a server that is listened to. The zero value knows of nothing.
type Listening struct{ failed atomic.Pointer[error] }

// Told takes what came of a subscription: its error, or nil for anything that came on it, and when nobody listens any more.
func (l *Listening) Told(err error) {
	switch {
	case err != nil:
		l.failed.Store(&err)
	case l.failed.Load() != nil:
		l.failed.Store(nil)
	}
}

// Listening is to be told what becomes of the subscriptions to the server.
func (s *Server) Listening() *Listening { return s.listening }

// ListensAs has the server share what is known of another's subscriptions.
func (s *Server) ListensAs(l *Listening) { s.listening = l }

// withoutWakeUp adds to a reply why nobody is woken, if that is so: to that of an acquire, on which a call waits that
// nothing wakes, and of a release, which woke nobody.
func (s *Server) withoutWakeUp(r *batch.Request, reply driver.Reply) driver.Reply {
	if reply.Err != nil {
		return reply
	}
	switch {
	case r.First.Line != nil && r.Line == nil && (r.First.Op == driver.OpRelease || reply.Outcome == driver.Declined):
		why := "the server is a cluster or a sharded service, which may keep a key and its line in two places"
		if s.known.IsLineless() {
			why = "the server forbids the keys of lines: see driver.LineKey and driver.TurnKey"
		}
		reply.Err = s.adapter.wakeUp("waiting calls poll", why)
	case r.Line != nil && r.First.Op == driver.OpAcquire && reply.Outcome == driver.Declined:
		if err := s.listening.failed.Load(); err != nil {
			what := "waiting calls poll, as what they listen with fails"
			if isForbidden(*err) {
				what = "waiting calls poll, as the server forbids what they listen with"
			}
			reply.Err = s.adapter.wakeUp(what, (*err).Error())
		}
	}
	return reply
}

// unpublished is the reply to a release that was carried out, and of which nobody could be told.
func (of *Adapter) unpublished(why string) driver.Reply {
	return driver.Reply{Outcome: driver.Accepted, Err: of.wakeUp("the release woke nobody", why)}
}

func (of *Adapter) wakeUp(what, why string) error {
	return fmt.Errorf("%s: %w: %s: %w", of.name, driver.ErrWakeUp, what, errors.New(printable.Text(why, shownAnswer)))
}
