package monitor

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

// watchClosing judges what a client does after it was closed. Once another has taken its place, it cannot be told which of them
// does it.
func watchClosing(r *Run) {
	r.onApplied = append(r.onApplied, func(a *redis.Applied) {
		client := a.Client.Name()
		if a.Set() && slices.Contains(r.Resources, a.Key) && a.Sent > r.clients.newest(client).quiet {
			r.broken(checker.Contract, a.Key, "%s still asks %s for its vote, but was closed before", client, a.Server.Name())
		}
	})
	r.onStep = append(r.onStep, func(client string, e observe.Event) {
		if (e.Step == observe.AttemptStarted || e.Step == observe.ExtendStarted) && r.clients.newest(client).isClosed {
			r.broken(checker.Contract, resourcesOf(e.Resource)[0], "%s reports the step %s after the client was closed", client, e.Step)
		}
	})
}
