package semaphore

import (
	"slices"
	"time"

	"redlocksim/redlock"
)

// slot is a place for one holder: a permit, and what is known here of who has it.
type slot struct {
	resource    string         // that the permit is a lock on
	lease       *redlock.Lease // that was granted here; nil once released
	isEnding    bool           // it is being released, and nobody here need ask for it before that is over
	isElsewhere bool           // it could not be had when it was last asked for
	wasHanded   bool           // it was released while a caller waited here, and no caller has looked since
	given       time.Time      // when it was given back here, the last time
}

// isHeld says whether the permit is held here, and its lease has not ended but by a release that is under way.
func (s *slot) isHeld() bool { return s.lease != nil && (s.isEnding || s.lease.Context().Err() == nil) }

// isGone says whether the permit is held here, or could not be had when it was last asked for.
func (s *slot) isGone() bool { return s.lease != nil || s.isElsewhere }

// isLeftSince says whether the permit was given back here by then and has not been taken since, as far as is known.
func (s *slot) isLeftSince(then time.Time) bool {
	return !s.isGone() && !s.given.IsZero() && !s.given.After(then)
}

// all says whether something is so of each permit. The semaphore is locked.
func (s *Semaphore) all(is func(*slot) bool) bool {
	for i := range s.slots {
		if !is(&s.slots[i]) {
			return false
		}
	}
	return true
}

// holdsAll says whether all permits are held here. The semaphore is locked.
func (s *Semaphore) holdsAll() bool { return s.all((*slot).isHeld) }

// areAllGone says whether each permit is held here, or could not be had when it was last asked for. The semaphore is locked.
func (s *Semaphore) areAllGone() bool { return s.all((*slot).isGone) }

// granted notes that a permit is held here.
func (s *Semaphore) granted(at *slot, lease *redlock.Lease) *Permit {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.lease, at.isEnding, at.isElsewhere, s.reason = lease, false, false, nil
	return &Permit{lease, s, at}
}

// notGranted notes that a permit could not be had. One that this client still has, or has got meanwhile, is not elsewhere.
func (s *Semaphore) notGranted(at *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.isElsewhere = at.lease == nil
}

// releases notes that a permit is being released.
func (p *Permit) releases() {
	s := p.semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.slot.lease == p.Lease { // and was not granted to another since
		p.slot.isEnding = true
	}
}

// vacate notes that a permit was given back, and has a caller that waits look for it.
func (p *Permit) vacate() {
	s := p.semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.slot.lease == p.Lease {
		isLast := s.areAllGone() // whoever waits, here or elsewhere, lacks this one
		p.slot.lease, p.slot.given = nil, s.clock.Now()
		p.slot.wasHanded = isLast && !s.line.IsEmpty()
		s.freed = append(slices.DeleteFunc(s.freed, func(other *slot) bool { return other == p.slot }), p.slot)
		s.pace.news = true
	}
	s.line.Wake()
}
