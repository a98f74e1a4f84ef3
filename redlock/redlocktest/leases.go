package redlocktest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// leases are the acquisitions that the nodes were asked for, by their values. The library releases what it is not granted by
// itself, so one that a node voted for and that was never released is a lease that was not unlocked.
type leases struct {
	mu      sync.Mutex
	byValue map[string]*acquisition
	inOrder []*acquisition
}

type acquisition struct {
	resources       []string
	ttl             time.Duration
	taken           stack
	voted, released bool
}

// sent learns of a command on the goroutine that sends it, whether or not it arrives.
func (l *leases) sent(c *driver.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.byValue[c.Value]
	switch {
	case c.Op == driver.OpRelease && a != nil:
		a.released = true
	case c.Op != driver.OpAcquire:
	case a == nil:
		if l.byValue == nil {
			l.byValue = map[string]*acquisition{}
		}
		a = &acquisition{resources: slices.Clone(c.Keys), ttl: c.TTL, taken: callers()}
		l.byValue[c.Value] = a
		l.inOrder = append(l.inOrder, a)
	case c.Round == 0 && a.taken != callers():
		// Clients send together what several goroutines ask for at once: it is not known which of them this one is.
		a.taken = stack{}
	}
}

// voted learns of a vote.
func (l *leases) voted(c *driver.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byValue[c.Value].voted = true
}

// ttl is what the acquisition with a value was asked for.
func (l *leases) ttl(value string) (ttl time.Duration, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.byValue[value]
	if a == nil {
		return 0, false
	}
	return a.ttl, true
}

// left describes the leases that were not unlocked, in the order in which they were asked for.
func (l *leases) left() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.inOrder {
		if !a.voted || a.released {
			continue
		}
		text := fmt.Sprintf("the lock of %q was never unlocked", strings.Join(a.resources, ", "))
		if place := a.taken.place(); place != "" {
			text += "; it was taken at " + place
		}
		all = append(all, text)
	}
	return all
}
