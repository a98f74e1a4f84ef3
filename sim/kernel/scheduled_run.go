package kernel

import (
	"cmp"
	"container/heap"
	"slices"
)

// runChosen makes the steps of a run that a Scheduler decides about.
func (k *Kernel) runChosen(until True) {
	c := k.choices
	for i := len(k.queue) - 1; i >= 0; i-- {
		if e := k.queue[i]; e.label.kind == StepTimeline && e.at > until {
			c.loose = append(c.loose, e)
		}
	}
	slices.SortFunc(c.loose, func(a, b *event) int { return cmp.Compare(a.order, b.order) })
	for _, e := range c.loose {
		heap.Remove(&k.queue, e.index)
	}
	k.drain()
	for {
		k.settle()
		k.dropIdle()
		n := c.scheduler.Choose(c.situation(k.queue, k.names, k.now, until))
		if n < 0 {
			break
		}
		c.step, c.born = c.options[n].ID, 0
		if e := c.events[n]; e != nil {
			k.perform(e)
			continue
		}
		c.ticks++
		if k.now = until; len(k.queue) > 0 {
			k.now = min(k.now, k.queue[0].at)
		}
	}
	k.now = max(k.now, until)
}

// settling says whether an event happens as soon as time has come to it: all but timers and the starts of programs.
func (e *event) settling() bool { return e.order&ordinary == 0 || e.label.kind == StepTimeline }

// settle does what happens as soon as time has come to it.
func (k *Kernel) settle() {
	for {
		var next *event
		for _, e := range k.queue {
			if e.at <= k.now && e.settling() && (next == nil || e.before(next)) {
				next = e
			}
		}
		if next == nil {
			return
		}
		k.perform(next)
	}
}

// dropIdle frees the next events as far as they have lost their effect, so that time does not stop at them.
func (k *Kernel) dropIdle() {
	for len(k.queue) > 0 && k.queue[0].idle() {
		k.free(heap.Pop(&k.queue).(*event))
	}
}

// perform makes the step of an event, wherever it waits, and what follows at once.
func (k *Kernel) perform(e *event) {
	c := k.choices
	isIt := func(o *event) bool { return o == e }
	c.messages = slices.DeleteFunc(c.messages, isIt)
	c.loose = slices.DeleteFunc(c.loose, isIt)
	if e.index >= 0 {
		heap.Remove(&k.queue, e.index)
	}
	k.take(e)
}
