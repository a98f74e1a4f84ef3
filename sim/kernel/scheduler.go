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
	if e.label.kind.message && e.order&ordinary != 0 {
		e.index = -1
		c.messages = append(c.messages, e)
		return true
	}
	return false
}

func (e *event) idle() bool {
	if e.owner != nil && e.owner.dead {
		return true
	}
	h, ok := e.handler.(Idle)
	return ok && h.Idle(e.arg)
}

// situation lists what can happen now in a run that ends at until.
func (c *choices) situation(q queue, names []string, now, until True) Situation {
	c.options, c.events = c.options[:0], c.events[:0]
	offer := func(e *event, process, from int32) {
		c.options = append(c.options, Option{ID: c.ids[e], Kind: e.label.kind, Process: names[process], From: names[from]})
		c.events = append(c.events, e)
	}
	c.messages = slices.DeleteFunc(c.messages, (*event).idle)
	for _, e := range c.messages {
		offer(e, e.label.to, e.label.from)
	}
	var due []*event
	for _, e := range q {
		if e.at <= now && !e.idle() {
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
	if len(due) == 0 && now < until {
		c.options = append(c.options, Option{ID: Key(0).WithString("time").With(c.ticks), Kind: StepTime})
		c.events = append(c.events, nil)
	}
	return Situation{Now: now, Options: c.options}
}
