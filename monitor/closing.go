package monitor

import (
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/history"
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

func newClosing(r *Run) Monitor {
	return &closing{run: r, closed: map[string]bool{}, after: map[string]kernel.True{}}
}

// Saw implements Monitor.
func (c *closing) Saw(*history.Event) {}

// Over implements Monitor.
func (c *closing) Over() {}

// Applied implements Monitor.
func (c *closing) Applied(a redis.Applied) {
	after, closed := c.after[a.Client.Name()]
	if closed && a.Sent > after && a.Set() && slices.Contains(c.run.Resources, a.Key) {
		c.run.broken(checker.Contract, a.Key, "%s still asks %s for its vote, but was closed before", a.Client.Name(), a.Server.Name())
	}
}

// Called implements protocols.Witness.
func (c *closing) Called(call *protocols.Call) {
	if call.Func == protocols.CloseCall {
		c.closed[call.Client] = true
	}
}

// Returned implements protocols.Witness.
func (c *closing) Returned(call *protocols.Call, err error) {
	if call.Func == protocols.CloseCall && err == nil {
		c.after[call.Client] = c.run.World.Kernel.Now()
	}
}

// Observed implements protocols.Witness.
func (c *closing) Observed(client string, e observe.Event) {
	if c.closed[client] && (e.Step == observe.AttemptStarted || e.Step == observe.ExtendStarted) {
		resource, _, _ := strings.Cut(e.Resource, ", ")
		c.run.broken(checker.Contract, resource, "%s reports the step %s after the client was closed", client, e.Step)
	}
}
