package redlock

import (
	"strconv"
	"strings"
	"sync"

	"redlocksim/internal/line"
	"redlocksim/redlock/driver"
)

// queues are the callers of Lock of one client that wait, by the set of keys that they want.
type queues struct {
	tasks driver.Tasks
	mu    sync.Mutex
	bySet map[keySet]*queue
}

// keySet is a set of keys, as a map can have it. The keys of several are written with their lengths, so that no two sets
// are the same text.
type keySet struct {
	size int
	keys string
}

// setOf is the set of some keys, which are sorted.
func setOf(keys []string) keySet {
	if len(keys) == 1 {
		return keySet{1, keys[0]}
	}
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(strconv.Itoa(len(key)))
		b.WriteByte(':')
		b.WriteString(key)
	}
	return keySet{len(keys), b.String()}
}

// queue holds the callers of Lock that want one set of keys. The first of them asks the nodes, but not while this client has a
// lease on the set, since the nodes would refuse it. A queue exists for as long as it has a caller or a lease.
type queue struct {
	set keySet

	// The queues' lock guards these.
	line   line.Line
	leases int   // of this client on the set that have not ended; more than one only where the lock is broken
	reason error // why the last attempt that the nodes decided was not granted; nil after a grant

	// Only the caller whose turn it is uses these.
	pace  pace
	place *place // in the lines of the nodes; nil until a gate was asked
}

// join puts a call at the end of the queue for its keys. It must leave it.
func (qs *queues) join(keys []string, place *line.Place) *queue {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.of(keys)
	q.line.Join(place)
	return q
}

// of gives the queue for some keys. The queues are locked.
func (qs *queues) of(keys []string) *queue {
	set := setOf(keys)
	q := qs.bySet[set]
	if q == nil {
		q = &queue{set: set}
		if qs.bySet == nil {
			qs.bySet = map[keySet]*queue{}
		}
		qs.bySet[set] = q
	}
	return q
}

// mayAsk says whether a call may ask the nodes now. One that may no longer, because TryLock has got the lock for this client
// meanwhile, is still the first that waits.
func (qs *queues) mayAsk(q *queue, place *line.Place) bool {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.line.IsFirst(place) && q.leases == 0 {
		return true
	}
	if place.Waiter == nil {
		place.Waiter = qs.tasks.NewWaiter()
	}
	return false
}

// wakeNext wakes the caller that may ask now. The queues are locked.
func (q *queue) wakeNext() {
	if q.leases == 0 {
		q.line.Wake()
	}
}

// leave takes a call out of its queue, and lets the next one have its turn. It gives the place in the lines of the nodes that
// nobody needs any more.
func (qs *queues) leave(q *queue, by *line.Place) (unused *place) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	wasFirst := q.line.IsFirst(by)
	q.line.Leave(by)
	if wasFirst {
		q.wakeNext()
	}
	if q.line.IsEmpty() {
		unused, q.place = q.place, nil
	}
	qs.drop(q)
	return unused
}

// goLast has all others of a queue stand before a call, which was the first.
func (qs *queues) goLast(q *queue, place *line.Place) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q.line.Leave(place)
	q.line.Join(place)
	q.wakeNext()
}

// drop forgets a queue that nobody uses any more. The queues are locked.
func (qs *queues) drop(q *queue) {
	if q.line.IsEmpty() && q.leases == 0 {
		delete(qs.bySet, q.set)
	}
}

// enter counts a new lease in: while it lasts nobody of this client asks for the lock again, except with TryLock.
func (qs *queues) enter(keys []string) *queue {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.of(keys)
	q.leases++
	q.reason = nil
	return q
}

// vacate counts a lease out when it has ended, and lets the next caller have its turn. Once is enough: then held is nil.
func (qs *queues) vacate(held **queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := *held
	if q == nil {
		return
	}
	*held = nil
	q.leases--
	q.wakeNext()
	qs.drop(q)
}
