package semaphore

import (
	"container/list"
	"context"
	"sync"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// queue is the callers of Acquire, in the order of their calls. Only the first of them looks for a permit, so what a grant
// costs the nodes does not depend on how many wait.
type queue struct {
	tasks driver.Tasks
	mu    sync.Mutex
	all   list.List // of *place
}

// place is where a call stands in the queue.
type place struct {
	queue   *queue
	waiter  driver.Waiter
	element *list.Element
}

// join puts a call at the end. It must leave.
func (q *queue) join() *place {
	p := &place{queue: q, waiter: q.tasks.NewWaiter()}
	q.mu.Lock()
	defer q.mu.Unlock()
	p.element = q.all.PushBack(p)
	return p
}

// leave takes a call out, and lets the next have its turn.
func (q *queue) leave(p *place) {
	q.mu.Lock()
	q.all.Remove(p.element)
	q.mu.Unlock()
	q.wake()
}

// wake wakes the first.
func (q *queue) wake() {
	q.mu.Lock()
	first := q.all.Front()
	q.mu.Unlock()
	if first != nil {
		first.Value.(*place).waiter.Wake()
	}
}

// await returns when the call is the first, or why ctx has ended if that ends before.
func (p *place) await(ctx context.Context) error {
	for !p.isFirst() {
		if err := whyEnded(ctx); err != nil {
			return err
		}
		p.waiter.Wait(ctx)
	}
	return nil
}

// whyEnded is why a call that waits must end; nil if it need not.
func whyEnded(ctx context.Context) error {
	if context.Cause(ctx) == redlock.ErrClosed {
		return redlock.ErrClosed
	}
	return ctx.Err()
}

// isEmpty says that no call stands in the queue.
func (q *queue) isEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all.Len() == 0
}

func (p *place) isFirst() bool {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return p.queue.all.Front() == p.element
}
