package conversation

import (
	"context"
	"encoding/json"

	"redlocksim/lockprogram/lines"
	"redlocksim/sim/history"
)

// transaction is a lease under which effects are made in the transaction that has the lock. It implements
// protocols.Transaction. When they were committed only the database knows, which is asked for the notes after the run.
type transaction struct {
	*lease
	result error
}

// Node is that of the database.
func (t *transaction) Node() string { return t.env.FirstNode }

// Access reads or writes in the transaction.
func (t *transaction) Access(ctx context.Context, e history.Event) history.Event {
	asked := t.clock.Now()
	r := lines.Request{Type: lines.RequestRead, Lease: t.id}
	if e.Func == history.Write {
		e.Kind, e.Process, e.Outcome = history.Effect, t.env.Name(), history.OK
		note, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		r.Type, r.Number, r.Note = lines.RequestWrite, e.Number, string(note)
	}
	a, _ := t.do(ctx, r)
	switch {
	case a.Type == lines.Refused:
		e.Outcome = history.Failed
	case a.Type == lines.Unknown || e.Func == history.Write:
		e.Outcome = history.Unknown
	default:
		e.Outcome, e.Number = history.OK, a.Number
	}
	if a.Type == lines.Done {
		t.until = t.Conversation.until(a, t.resource, t.env.Settings.TTL, asked)
		t.believe(t.ctx, a)
	}
	return e
}

// Commit implements protocols.Transaction.
func (t *transaction) Commit(ctx context.Context) { t.result = t.lease.Unlock(ctx) }

// Unlock is over with the commit.
func (t *transaction) Unlock(context.Context) error { return t.result }
