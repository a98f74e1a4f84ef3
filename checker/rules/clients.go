package rules

import (
	"maps"
	"slices"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// clients remembers the clients of each process, of which one takes the place of another, and which of them were closed.
type clients struct {
	of map[string][]*life
	// areFirst says that no client was closed or replaced so far, so that there is nothing to look up.
	areFirst bool
	// seeking are the calls for permits that have not returned, and the number of the client that each was made with.
	seeking map[*protocols.PermitCall]int
}

// life is what became of a client.
type life struct {
	isClosed bool // or is being closed
	// quiet is from when on nothing of it is under way, as its Close has said; Forever if that has not returned.
	quiet kernel.True
}

// watchClients comes after the monitors: they judge what was before a client was closed as it was then.
func watchClients(r *Run) *clients {
	c, closing := &clients{map[string][]*life{}, true, map[*protocols.PermitCall]int{}}, map[*protocols.Call]*life{}
	r.onCall(func(call *protocols.Call) {
		switch call.Func {
		case protocols.CloseCall:
			closing[call] = c.newest(call.Client)
			closing[call].isClosed, c.areFirst = true, false
		case protocols.NewClientCall:
			c.newest(call.Client)
			c.of[call.Client], c.areFirst = append(c.of[call.Client], &life{quiet: kernel.Forever}), false
		}
	})
	trace.On(r.World.Events, func(call protocols.PermitCalled) { c.seeking[call.PermitCall] = c.number(call.Client) })
	trace.On(r.World.Events, func(call protocols.PermitReturned) { delete(c.seeking, call.PermitCall) })
	r.onCrash(func(client string) {
		delete(c.of, client)
		maps.DeleteFunc(c.seeking, func(call *protocols.PermitCall, _ int) bool { return call.Client == client })
	})
	r.onReturn(func(call *protocols.Call, err error) {
		if closed := closing[call]; closed != nil && err == nil {
			closed.quiet = r.World.Kernel.Now()
		}
	})
	return c
}

// newest is the client that a process has now.
func (c *clients) newest(process string) *life {
	if c.of[process] == nil {
		c.of[process] = []*life{{quiet: kernel.Forever}}
	}
	return c.of[process][len(c.of[process])-1]
}

// number counts the clients that a process had before the one that it has now.
func (c *clients) number(process string) int {
	if c.areFirst {
		return 0
	}
	return max(0, len(c.of[process])-1)
}

// numberOf counts the clients that a process had before the one that a call is made with which begins now.
func (c *clients) numberOf(call *protocols.Call) int {
	if number, is := c.seeking[call.Permit]; is {
		return number
	}
	return c.number(call.Client)
}

// isSeeking says whether a process has a call for a permit that has not returned.
func (c *clients) isSeeking(process string) bool {
	for call := range c.seeking {
		if call.Client == process {
			return true
		}
	}
	return false
}

// isClosed says whether the client of a number is closed.
func (c *clients) isClosed(process string, number int) bool {
	return !c.areFirst && number < len(c.of[process]) && c.of[process][number].isClosed
}

// quiet is from when on nothing of any client of a process is under way.
func (c *clients) quiet(process string) (since kernel.True) {
	if c.areFirst {
		return kernel.Forever
	}
	c.newest(process)
	for _, l := range c.of[process] {
		since = max(since, l.quiet)
	}
	return since
}

// allClosed says whether all clients that a process had are closed.
func (c *clients) allClosed(process string) bool {
	if c.areFirst {
		return false
	}
	c.newest(process)
	return !slices.ContainsFunc(c.of[process], func(l *life) bool { return !l.isClosed })
}

// anyClosed says whether any client of a process is closed: a lease may be of each of them.
func (c *clients) anyClosed(process string) bool {
	return slices.ContainsFunc(c.of[process], func(l *life) bool { return l.isClosed })
}
