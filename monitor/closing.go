package monitor

import (
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// closing judges what a client does after it was closed.
type closing struct {
	run    *Run
	closed map[string]bool        // clients
	after  map[string]kernel.True // when the Close of a client returned that waited for all that was under way
}

func watchClosing(r *Run) {
	c := &closing{run: r, closed: map[string]bool{}, after: map[string]kernel.True{}}
	r.onApplied = append(r.onApplied, c.applied)
	r.onStep = append(r.onStep, c.observed)
	r.onCall = append(r.onCall, c.called)
	r.onReturn = append(r.onReturn, c.returned)
}

func (c *closing) applied(a *redis.Applied) {
	after, closed := c.after[a.Client.Name()]
	if closed && a.Sent > after && a.Set() && slices.Contains(c.run.Resources, a.Key) {
		c.run.broken(checker.Contract, a.Key, "%s still asks %s for its vote, but was closed before", a.Client.Name(), a.Server.Name())
	}
}

func (c *closing) called(call *protocols.Call) {
	switch call.Func {
	case protocols.CloseCall:
		c.closed[call.Client] = true
	case protocols.NewClientCall: // and what it does cannot be told from what the one before does
		delete(c.closed, call.Client)
		delete(c.after, call.Client)
	}
}

func (c *closing) returned(call *protocols.Call, err error) {
	if call.Func == protocols.CloseCall && err == nil {
		c.after[call.Client] = c.run.World.Kernel.Now()
	}
}

func (c *closing) observed(client string, e observe.Event) {
	if c.closed[client] && (e.Step == observe.AttemptStarted || e.Step == observe.ExtendStarted) {
		resource, _, _ := strings.Cut(e.Resource, ", ")
		c.run.broken(checker.Contract, resource, "%s reports the step %s after the client was closed", client, e.Step)
	}
}
