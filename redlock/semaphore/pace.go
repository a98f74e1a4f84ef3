package semaphore

import "time"

// localGrants is how many permits in a row are handed on from caller to caller here, before other processes get their turn.
const localGrants = 16

// pace is when the callers of the queue may look. They share it, so that the nodes are not asked more often if callers give up.
type pace struct {
	until  time.Time // until when nobody looks; zero: nothing holds the next back
	polls  bool      // it is the delay after a look, which news ends
	news   bool      // a permit was given back here since a caller of the queue last looked
	inARow int       // permits that were handed on since other processes had a chance
}

// pauses begins the delay after a look that found nothing.
func (s *Semaphore) pauses() error {
	delay, err := s.lent.Delay()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.until, s.pace.polls = s.clock.Now().Add(delay), true
	return nil
}

// count counts a grant of a permit that was handed on, before another process could see that it was free.
func (s *Semaphore) count(handed bool) {
	if !handed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.inARow++
}

// rest returns when the first of the queue may look, or why the call ends before.
func (c *call) rest() error {
	for {
		left, err := c.left()
		if err != nil {
			return err
		}
		if left <= 0 {
			return nil
		}
		timer := c.clock.AfterFunc(left, c.place.Waiter.Wake)
		c.place.Waiter.Wait(c.waiting)
		timer.Stop()
		if err := whyEnded(c.waiting); err != nil {
			return err // the next waits for what is left
		}
	}
}

// isLeftSince says whether a permit that was given back here by then has not been taken since, as far as is known: then others
// have had their turn. The semaphore is locked.
func (s *Semaphore) isLeftSince(then time.Time) bool {
	for i := range s.slots {
		if s.slots[i].isLeftSince(then) {
			return true
		}
	}
	return false
}

// left is how long the first of the queue must still wait; negative if it may look. While all permits are held here it need not
// look before a retry delay is over, in which a lease may be lost, and the pause for other processes has not begun.
func (s *Semaphore) left() (time.Duration, error) {
	delay, err := s.lent.Delay() // in case that it is needed
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, p := s.clock.Now(), &s.pace
	if s.isLeftSince(now.Add(-s.lent.RetryMax)) {
		p.inARow = 0
	}
	switch {
	case s.holdsAll():
		p.news = false
		return delay, nil
	case p.inARow >= localGrants && !s.areAllGone(): // else others would gain nothing by a pause
		// Every other process that waits looks once in that time: after a delay, and for as long as a look takes.
		p.inARow, p.until, p.polls = 0, now.Add(s.lent.RetryMax+s.lent.RetryMax/4), false
	}
	if left := p.until.Sub(now); left > 0 && !(p.polls && p.news) {
		return left, nil
	}
	p.until, p.news = time.Time{}, false
	return -1, nil
}
