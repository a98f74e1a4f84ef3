package kernel

import (
	"cmp"
	"slices"
)

// Scheduler decides what happens next in a run, in the place of the delays of messages and of the order in which
// events were scheduled. It is for searches that go through all orders.
//
// What can happen is that a message arrives, however long it has been under way, that a timer fires which is due, or that
// time goes on to the next moment for which something is scheduled. What After was asked for happens as soon as time has
// come there, and so does what WhenProgramClock waits for. What After was asked for before the run, for a time after its
// end, can happen at any moment instead, once.
type Scheduler interface {
	// Choose gives the index of an option, or a negative number to end the run. It is also called, once, when there is
	// none.
	Choose(Situation) int
}

// Situation is what a Scheduler knows. It is good until the Scheduler returns.
type Situation struct {
	Now True
	// Options are the messages in the order in which they were sent, the timers in the order in which they were set, what
	// can happen at any moment, and the passing of time.
	Options []Option
}

// Option is something that can happen next.
type Option struct {
	// ID is the same in all runs in which the same steps led to the option, in whatever order they were made.
	ID   Key
	Kind *StepKind
	// Process is whose step it is; empty for what concerns more than one.
	Process string
	// From sent the message, if it is one.
	From string
}

// choices is what a Scheduler chooses from.
type choices struct {
	scheduler Scheduler
	ids       map[*event]Key
	step      Key // of the step under way
	born      uint64
	ticks     uint64
	messages  []*event // in the order in which they were sent
	loose     []*event // what can happen at any moment

	options []Option
	events  []*event // of the options; nil for the passing of time
}

// take numbers an event, and keeps it if it is a message.
func (c *choices) take(e *event) (kept bool) {
	c.ids[e] = c.step.With(c.born)
	c.born++
	if e.label.kind.Message && e.order&ordinary != 0 {
		e.index = -1
		c.messages = append(c.messages, e)
		return true
	}
	return false
}

// settling says whether an event happens as soon as time has come to it: all but timers and the starts of programs.
func (e *event) settling() bool { return e.order&ordinary == 0 || e.label.kind == StepTimeline }

func (e *event) idle() bool {
	if e.owner != nil && e.owner.Dead() {
		return true
	}
	h, ok := e.handler.(Idle)
	return ok && h.Idle(e.arg)
}

// runChosen makes the steps of a run that a Scheduler decides about.
func (k *Kernel) runChosen(until True) {
	c := k.choices
	for i := len(k.queue) - 1; i >= 0; i-- {
		if e := k.queue[i].event; e.label.kind == StepTimeline && e.at > until {
			c.loose = append(c.loose, e)
		}
	}
	slices.SortFunc(c.loose, func(a, b *event) int { return cmp.Compare(a.order, b.order) })
	for _, e := range c.loose {
		k.queue.remove(e)
	}
	k.drain()
	for {
		k.settle()
		n := c.scheduler.Choose(c.situation(k, until))
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

// settle does what happens as soon as time has come to it.
func (k *Kernel) settle() {
	for {
		var next *entry
		for i := range k.queue {
			if q := &k.queue[i]; q.at <= k.now && q.event.settling() && (next == nil || q.before(next)) {
				next = q
			}
		}
		if next == nil {
			return
		}
		k.perform(next.event)
	}
}

// perform makes the step of an event, wherever it waits, and what follows at once.
func (k *Kernel) perform(e *event) {
	c := k.choices
	isIt := func(o *event) bool { return o == e }
	c.messages = slices.DeleteFunc(c.messages, isIt)
	c.loose = slices.DeleteFunc(c.loose, isIt)
	if e.index >= 0 {
		k.queue.remove(e)
	}
	k.take(e)
}

func (c *choices) situation(k *Kernel, until True) Situation {
	c.options, c.events = c.options[:0], c.events[:0]
	offer := func(e *event, process, from int32) {
		c.options = append(c.options, Option{ID: c.ids[e], Kind: e.label.kind, Process: k.names[process], From: k.names[from]})
		c.events = append(c.events, e)
	}
	c.messages = slices.DeleteFunc(c.messages, (*event).idle)
	for _, e := range c.messages {
		offer(e, e.label.to, e.label.from)
	}
	var due []*event
	for i := range k.queue {
		if e := k.queue[i].event; e.at <= k.now && !e.idle() {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *event) int { return cmp.Compare(a.order, b.order) })
	for _, e := range due {
		offer(e, e.label.from, 0)
	}
	for _, e := range c.loose {
		offer(e, 0, 0)
	}
	for len(k.queue) > 0 && k.queue[0].event.idle() {
		k.free(k.queue.pop())
	}
	if len(due) == 0 && k.now < until {
		c.options = append(c.options, Option{ID: Key(0).WithString("time").With(c.ticks), Kind: StepTime})
		c.events = append(c.events, nil)
	}
	return Situation{Now: k.now, Options: c.options}
}
