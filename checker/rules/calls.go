package rules

import (
	"maps"
	"slices"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// call is a call of a client's lock, with what was so when it began.
type call struct {
	*protocols.Call
	client    *kernel.Process
	began     kernel.True
	reads     time.Time // what the client's lock clock read then
	made      int       // how many clients the process had before the one that it is made with
	isStarved bool      // its client had no random bytes for some of the time
	closes    *life     // the client that it closes, if it is a Close
}

// itself is the call of what a rule knows of one; see follow.
func (c *call) itself() *call { return c }

// calls are those of a run that have not returned, in the order in which they began, and the clients that they are made with.
type calls struct {
	*Run
	open    []*call
	clients map[string][]*life // of each process: one takes the place of another
	// seeking are the calls for permits that have not returned, and the number of the client that each was made with.
	seeking map[*protocols.PermitCall]int
	// begin and end are told of a call before its client counts as closed.
	begin []func(*call)
	end   []func(*call, error)
}

// life is what became of a client.
type life struct {
	isClosed bool // or is being closed
	// quiet is from when on nothing of it is under way, as its Close has said; Forever if that has not returned.
	quiet kernel.True
}

// watch comes after the rules, so that they are told of a crash before its calls are forgotten.
func (c *calls) watch() {
	trace.On(c.World.Events, c.called)
	trace.On(c.World.Events, c.returned)
	trace.On(c.World.Events, func(p protocols.PermitCalled) { c.seeking[p.PermitCall] = c.number(p.Client) })
	trace.On(c.World.Events, func(p protocols.PermitReturned) { delete(c.seeking, p.PermitCall) })
	c.onCrash(func(client string) {
		delete(c.clients, client)
		maps.DeleteFunc(c.seeking, func(p *protocols.PermitCall, _ int) bool { return p.Client == client })
		c.open = slices.DeleteFunc(c.open, func(o *call) bool { return o.Client == client })
	})
	c.onChange(func() {
		for _, o := range c.open {
			o.isStarved = o.isStarved || o.client.Starved()
		}
	})
}

func (c *calls) called(e protocols.Called) {
	client := c.World.Client(e.Client)
	o := &call{Call: e.Call, client: client, began: c.World.Kernel.Now(), reads: client.ProgramClock().Now(), made: c.number(e.Client),
		isStarved: client.Starved()}
	if number, is := c.seeking[e.Permit]; is {
		o.made = number
	}
	c.open = append(c.open, o)
	for _, tell := range c.begin {
		tell(o)
	}
	switch o.Func {
	case protocols.CloseCall:
		o.closes = c.newest(o.Client)
		o.closes.isClosed = true
	case protocols.NewClientCall:
		c.clients[o.Client] = append(c.all(o.Client), &life{quiet: kernel.Forever})
	}
}

func (c *calls) returned(e protocols.Returned) {
	i := slices.IndexFunc(c.open, func(o *call) bool { return o.Call == e.Call })
	if i < 0 {
		return // of a client that has crashed, of which a task goes on
	}
	o := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	for _, tell := range c.end {
		tell(o, e.Err)
	}
	if o.closes != nil && e.Err == nil {
		o.closes.quiet = c.World.Kernel.Now()
	}
}

// all are the clients that a process had, the one that it has now last.
func (c *calls) all(process string) []*life {
	if c.clients[process] == nil {
		c.clients[process] = []*life{{quiet: kernel.Forever}}
	}
	return c.clients[process]
}

func (c *calls) newest(process string) *life { return c.all(process)[c.number(process)] }

// number counts the clients that a process had before the one that it has now.
func (c *calls) number(process string) int { return max(0, len(c.clients[process])-1) }

// isSeeking says whether a process has a call for a permit that has not returned.
func (c *calls) isSeeking(process string) bool {
	for p := range c.seeking {
		if p.Client == process {
			return true
		}
	}
	return false
}

// isClosed says whether the client of a number is closed.
func (c *calls) isClosed(process string, number int) bool {
	all := c.clients[process]
	return number < len(all) && all[number].isClosed
}

// quiet is from when on nothing of any client of a process is under way.
func (c *calls) quiet(process string) (since kernel.True) {
	for _, l := range c.all(process) {
		since = max(since, l.quiet)
	}
	return since
}

// closed counts the clients of a process that are closed.
func (c *calls) closed(process string) (n int) {
	for _, l := range c.clients[process] {
		if l.isClosed {
			n++
		}
	}
	return n
}

// onCall and onReturn have a rule told that a call of a client's lock begins, and what it returned, before anything else
// happens in the client.
func (r *Run) onCall(tell func(*call))          { r.calls.begin = append(r.calls.begin, tell) }
func (r *Run) onReturn(tell func(*call, error)) { r.calls.end = append(r.calls.end, tell) }

// follow has a rule know something of calls for as long as they are open. What begins says is nil of calls that the rule does
// not follow; ends is told of one that has returned, and of none whose client has crashed.
func follow[T any, P interface {
	*T
	itself() *call
}](r *Run, open *[]P, begins func(*call) P, ends func(P, error)) {
	r.onCall(func(c *call) {
		if p := begins(c); p != nil {
			*open = append(*open, p)
		}
	})
	r.onReturn(func(c *call, err error) {
		if i := slices.IndexFunc(*open, func(p P) bool { return p.itself() == c }); i >= 0 {
			p := (*open)[i]
			*open = slices.Delete(*open, i, i+1)
			ends(p, err)
		}
	})
	r.onCrash(func(client string) {
		*open = slices.DeleteFunc(*open, func(p P) bool { return p.itself().Client == client })
	})
}

// waited is for how long a call has been under way, of a client that has not stood still since, and that has not just taken its
// time; zero if it cannot be told: a lock of one's own may do anything before it asks.
func (r *Run) waited(c *call) time.Duration {
	if r.Foreign {
		return 0
	}
	return r.waitedSince(c.client, c.began)
}

// waitedSince is for how long a client has run since then, if it has not stood still, and has not just taken its time.
func (r *Run) waitedSince(client *kernel.Process, since kernel.True) time.Duration {
	const stepsToAsk = 8 // more than a client's code takes from a call to its first attempt, if it does not wait
	waited := r.World.Kernel.Now().Sub(since)
	if waited <= stepsToAsk*r.StepTime || !r.standstills.hasRun(client, since) {
		return 0
	}
	return waited
}
