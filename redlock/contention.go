package redlock

import (
	"sync"
	"time"
)

// contendedFor is how long a resource counts as contended after a node has said that another holds it.
const contendedFor = time.Second

// contention remembers when nodes have last said that another client holds the locks. It is ready for use.
type contention struct {
	mu   sync.Mutex
	seen recent[keySet, sighting]
}

// sighting is when another was seen last, and how many attempts were refused since all nodes were asked for that.
type sighting struct {
	at      time.Time
	refused int
}

// saw notes that another client had the lock, or part of its votes, or waits for it.
func (c *contention) saw(set keySet, now time.Time) { c.note(set, now, 0) }

// refused notes that an attempt has failed for that.
func (c *contention) refused(set keySet, now time.Time) { c.note(set, now, 1) }

func (c *contention) note(set keySet, now time.Time, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ := c.seen.get(set)
	c.seen.put(set, sighting{now, s.refused + refused})
}

// isTimeForAll says whether so many attempts were refused that the next one asks all nodes, and begins to count again. It
// counts over calls, of which short ones make few.
func (c *contention) isTimeForAll(set keySet) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, is := c.seen.get(set)
	if !is || s.refused < allEvery {
		return false
	}
	c.seen.put(set, sighting{at: s.at})
	return true
}

// isWithin says whether that was within some time.
func (c *contention) isWithin(d time.Duration, set keySet, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, is := c.seen.get(set)
	return is && now.Sub(s.at) < d
}
