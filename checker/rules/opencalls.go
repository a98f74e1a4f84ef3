package rules

import (
	"slices"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// openCall is a call that has not returned.
type openCall struct {
	*protocols.Call
	client  *kernel.Process
	isAlone bool // no other call of the client was under way
}

func (c *openCall) call() *openCall { return c }

// openCalls are the calls that have not returned, in the order in which they began, each with what a monitor remembers of it.
type openCalls[T interface{ call() *openCall }] struct{ all []T }

// openCallsOf follows the calls of a run. begin is what the monitor remembers of a call when it begins.
func openCallsOf[T interface{ call() *openCall }](r *Run, begin func(openCall) T) *openCalls[T] {
	open := &openCalls[T]{}
	forget := func(is func(*openCall) bool) {
		open.all = slices.DeleteFunc(open.all, func(t T) bool { return is(t.call()) })
	}
	r.onCall(func(c *protocols.Call) {
		this := openCall{c, r.World.Client(c.Client), true}
		for _, t := range open.all {
			if other := t.call(); other.client == this.client {
				this.isAlone, other.isAlone = false, false
			}
		}
		open.all = append(open.all, begin(this))
	})
	r.onReturn(func(c *protocols.Call, _ error) { forget(func(o *openCall) bool { return o.Call == c }) })
	r.onCrash(func(client string) { forget(func(o *openCall) bool { return o.Client == client }) })
	return open
}
