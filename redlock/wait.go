package redlock

import (
	"context"

	"redlocksim/redlock/observe"
)

// wait returns nil once a quorum said yes. As soon as that is impossible, or ctx ends, it returns why: ErrTaken, ErrNoQuorum,
// ErrLost, errBehind, or the error of ctx.
func (r *round) wait(ctx context.Context) error {
	for !r.isSettled() {
		if err := ctx.Err(); err != nil {
			r.leave()
			return err
		}
		r.waiter.Wait(ctx)
	}
	r.leave()
	return r.verdict
}

func (r *round) isSettled() bool {
	r.acquisition.mu.Lock()
	defer r.acquisition.mu.Unlock()
	return r.settled
}

// leave ends the waiting. It reports the answers so far to the observer, on the caller's goroutine; answers that come from now
// on are late.
func (r *round) leave() {
	a := r.acquisition
	a.mu.Lock()
	r.settled = true
	report := !r.reported
	r.reported = true
	a.mu.Unlock()
	if !report || a.client.observer == nil {
		return
	}
	for _, i := range r.order[:r.timely] {
		a.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: r.outcomes[i]})
	}
}

// report tells the observer how the vote went: err is why there is no quorum.
func (r *round) report(err error) {
	step := observe.QuorumReached
	if err != nil {
		step = observe.QuorumLost
	}
	r.acquisition.observe(observe.Event{Step: step, Op: r.op, Accepted: r.votes, Quorum: r.acquisition.client.quorum, Err: err})
}

// failed makes the error of a round that ended with reason, which may be the error of ctx. Nodes that answered after that are
// unanswered in it.
func (r *round) failed(ctx context.Context, reason error) *Error {
	nodes := make([]observe.NodeOutcome, len(r.outcomes))
	for i, name := range r.acquisition.client.names {
		nodes[i].Node = name
	}
	for _, i := range r.order[:r.timely] {
		nodes[i] = r.outcomes[i]
	}
	err := &Error{Op: r.op, Resource: r.acquisition.name, Reason: reason, Nodes: nodes, NodeTimeout: r.acquisition.client.nodeTimeout}
	if reason == ctx.Err() || reason == ErrTokensUsedUp {
		err.Reason, err.Cause = nil, reason
	}
	return err
}
