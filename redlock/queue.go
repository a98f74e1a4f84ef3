package redlock

import (
	"container/list"
	"strconv"
	"strings"
	"sync"
	"time"

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

// queue holds the callers of Lock that want one set of keys, in the order of their calls. One of them asks the nodes, and none
// does while this client has a lease on the set, since the nodes would refuse it. So what a grant costs the nodes does not
// depend on how many callers wait. A queue exists for as long as it has a caller or a lease.
type queue struct {
	set keySet

	// The queues' lock guards these.
	waiting list.List // the *place of those that wait
	asking  bool      // one more has the turn
	leases  int       // of this client on the set that have not ended; more than one only where the lock is broken
	reason  error     // why the last attempt that the nodes decided was not granted; nil after a grant

	// Only the caller whose turn it is uses these.
	inARow       int           // grants since other processes had a chance
	rest         time.Time     // until when nobody asks; zero: nothing holds the next back
	polls        bool          // it is until the next attempt after one that failed, and ends early with news of a release
	cutShort     bool          // the last attempt ended with its caller, before the nodes had decided it
	subscription *subscription // to releases by other clients; nil until one was in the way
}

// place is where a call stands in its queue.
type place struct {
	queues  *queues
	queue   *queue
	waiter  driver.Waiter // nil until it has to wait
	asks    bool          // it has the turn
	element *list.Element // among those that wait; nil if it does not
}

// join puts a call at the end of the queue for its keys. It must leave it.
func (p *place) join(qs *queues, keys []string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	p.queues, p.queue = qs, qs.of(keys)
	if q := p.queue; q.isFree() && q.waiting.Len() == 0 {
		p.asks, q.asking = true, true
	} else {
		p.enqueue((*list.List).PushBack)
	}
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

// drop forgets a queue that nobody uses any more, and gives the subscription to be closed then. The queues are locked.
func (qs *queues) drop(q *queue) (unused *subscription) {
	if q.waiting.Len() != 0 || q.asking {
		return nil
	}
	if q.leases == 0 {
		delete(qs.bySet, q.set)
	}
	unused, q.subscription = q.subscription, nil
	return unused
}

// isFree says that nobody has the turn and nothing is in the way of it. The queues are locked.
func (q *queue) isFree() bool { return !q.asking && q.leases == 0 }

// next gives the waiter of the caller that may take the turn now; nil if there is none. The queues are locked.
func (q *queue) next() driver.Waiter {
	first := q.waiting.Front()
	if first == nil || !q.isFree() {
		return nil
	}
	return first.Value.(*place).waiter
}

// enqueue has the call wait, at the end of the queue to which push adds. The queues are locked.
func (p *place) enqueue(push func(*list.List, any) *list.Element) {
	if p.waiter == nil {
		p.waiter = p.queues.tasks.NewWaiter()
	}
	p.element = push(&p.queue.waiting, p)
}

// dequeue ends the waiting. The queues are locked.
func (p *place) dequeue() {
	p.queue.waiting.Remove(p.element)
	p.element = nil
}

// isFirst says that the call waits in front of all others. The queues are locked.
func (p *place) isFirst() bool { return p.element != nil && p.queue.waiting.Front() == p.element }

// take says whether the call may ask the nodes now. One that may no longer, because TryLock has got the lock for this client
// meanwhile, is the first that waits.
func (p *place) take() bool {
	qs, q := p.queues, p.queue
	qs.mu.Lock()
	defer qs.mu.Unlock()
	switch {
	case p.asks && q.leases > 0:
		p.asks, q.asking = false, false
		p.enqueue((*list.List).PushFront)
	case p.isFirst() && q.isFree():
		p.dequeue()
		p.asks, q.asking = true, true
	}
	return p.asks
}

// leave gives the place up, and lets the next caller have its turn.
func (p *place) leave() {
	qs, q := p.queues, p.queue
	qs.mu.Lock()
	wasFirst := p.asks || p.isFirst()
	if p.asks {
		p.asks, q.asking = false, false
	}
	if p.element != nil {
		p.dequeue()
	}
	var next driver.Waiter
	if wasFirst {
		next = q.next()
	}
	unused := qs.drop(q)
	qs.mu.Unlock()
	if next != nil {
		next.Wake()
	}
	unused.close()
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
	q := *held
	if q == nil {
		qs.mu.Unlock()
		return
	}
	*held = nil
	q.leases--
	next := q.next()
	qs.drop(q)
	qs.mu.Unlock()
	if next != nil {
		next.Wake()
	}
}
