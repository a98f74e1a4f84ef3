package redlock

import (
	"slices"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// owed are the releases that a node has not confirmed. They are sent again until the node has deleted the key or the key has
// expired: what the client gave up may still reach the node, and would keep others out for the whole TTL.
type owed struct {
	client *Client
	node   int

	mu    sync.Mutex
	all   []owedRelease
	timer driver.Timer  // nil before the first
	wakes time.Time     // when the timer comes; zero: it does not
	pause time.Duration // between two releases while the node is suspected; 0 before the first
}

type owedRelease struct {
	acquisition *acquisition
	due         time.Time
	tries       int  // that have failed
	isSilent    bool // the last of them was not answered
}

// mostOwed limits the memory for a node that is down for long. The keys of what is forgotten expire.
const mostOwed = 4096

// longestPause is the longest time between two releases that look whether a suspected node is back.
const longestPause = time.Second

// add has the release of an acquisition sent again, if its keys may be there then: after a delay that doubles with each try, or
// with the next look whether a silent node is back.
func (o *owed) add(a *acquisition, tries int, isSilent bool) {
	c := o.client
	after := c.nodeTimeout << min(tries, 16)
	if isSilent {
		after = min(after, longestPause)
	}
	now := c.clock.Now()
	due := now.Add(after)
	a.mu.Lock()
	isOver := due.After(a.keysUntil)
	a.mu.Unlock()
	if isOver || c.closed.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) == mostOwed {
		o.all = slices.Delete(o.all, 0, 1)
	}
	o.all = append(o.all, owedRelease{a, due, tries, isSilent})
	o.arm(now)
}

// isBack sends all releases that the node owes, which answers again.
func (o *owed) isBack() {
	o.mu.Lock()
	now := o.client.clock.Now()
	for i := range o.all {
		if o.all[i].isSilent {
			o.all[i].due = now
		}
	}
	o.pause = 0
	o.mu.Unlock()
	o.send()
}

// send sends the releases that are due; one of them while the node is suspected, to see whether it is back.
func (o *owed) send() {
	closed := o.client.begin()
	defer o.client.end()
	o.mu.Lock()
	o.wakes = time.Time{}
	now := o.client.clock.Now()
	if closed {
		o.all = nil
	}
	suspected := o.isSuspected()
	var going []owedRelease
	o.all = slices.DeleteFunc(o.all, func(r owedRelease) bool {
		if now.Before(r.due) || suspected && len(going) > 0 {
			return false
		}
		going = append(going, r)
		return true
	})
	if suspected {
		o.pause = min(max(2*o.pause, o.client.nodeTimeout), longestPause)
	}
	o.arm(now)
	o.mu.Unlock()
	for _, r := range going {
		r.acquisition.releaseOn(o.node, r.tries+1)
	}
}

func (o *owed) isSuspected() bool { return o.client.peers[o.node].suspected.Load() }

// arm makes sure that the next release is sent. It is called locked.
func (o *owed) arm(now time.Time) {
	if len(o.all) == 0 {
		return
	}
	wait := o.pause
	if !o.isSuspected() || wait == 0 {
		wait = o.all[0].due.Sub(now)
		for _, r := range o.all[1:] {
			wait = min(wait, r.due.Sub(now))
		}
	}
	at := now.Add(max(wait, 0))
	if !o.wakes.IsZero() && !at.Before(o.wakes) {
		return
	}
	o.wakes = at
	if o.timer == nil {
		o.timer = o.client.clock.AfterFunc(max(wait, 0), o.send)
	} else {
		o.timer.Reset(max(wait, 0))
	}
}
