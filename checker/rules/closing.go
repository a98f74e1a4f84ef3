package rules

import (
	"context"
	"errors"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// watchClosing judges what Close returns, and what a client does after it was closed. Of several
// clients of a process it cannot be told which of them does it: only once all are closed.
func watchClosing(r *Run) {
	r.onApplied(func(a *redis.Applied) {
		client := a.Client.Name()
		if a.Set() && slices.Contains(r.Resources, a.Key) && a.Sent > r.clients.quiet(client) {
			r.broken(checker.Contract, a.Key, "%s still asks %s for its vote, but was closed before", client, a.Server.Name())
		}
	})
	r.onReturn(func(c *protocols.Call, err error) {
		if c.Func == protocols.CloseCall && r.isLibrary() {
			r.Judged[checker.JudgeClosing]++
		}
		if c.Func == protocols.CloseCall && err != nil && r.isLibrary() && !hasEndedWith(c.Context, err) {
			r.broken(checker.Contract, r.subjectOf(c), "%s's Close returns %q, and nothing but the end of its context makes it fail", c.Client, err)
		}
	})
	r.onStep(func(client string, e *observe.Event) {
		if r.clients.allClosed(client) {
			r.broken(checker.Contract, resourcesOf(e.Resource)[0], "%s reports the step %s after the client was closed", client, e.Step)
		}
	}, observe.AttemptStarted, observe.ExtendStarted)
}

// hasEndedWith says whether a context has ended with an error.
func hasEndedWith(ctx context.Context, err error) bool {
	return ctx != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
}
