package checker

import (
	"fmt"

	"redlocksim/sim/history"
)

// operation is a call with what became of it.
type operation struct {
	fn      history.Func
	process string
	// resource is that of the lock, for operations under a grant.
	resource string
	grant    int
	call     int // Seq; 0 if there is no such operation
	ret      int // Seq; forever if it never returned
	outcome  history.Outcome
	number   int64
	// basis is the read under another grant that a write builds on; 0 if on none.
	basis int
	// crash is the Seq at which its process crashed before it returned, or forever.
	crash int
	// Of a grant: its token, and the Seq at which a release of it succeeded first; 0 if there is none.
	token    int64
	released int
	// attempts is the highest attempt number of the steps of an acquire; 0 if there are none.
	attempts int
}

// granted reports whether the operation is an acquire that gave the lock.
func (o *operation) granted() bool { return o.fn == history.Acquire && o.outcome == history.OK }

// transcript is a history whose calls and returns are paired.
type transcript struct {
	history   history.History
	ops       []operation // by Op; the first is no operation
	acquires  []int       // Ops in the order of their calls
	resources []string    // sorted
	end       Instant     // when the run did
}

// at returns when the event with this Seq happened, the end of the run for one that never does.
func (t *transcript) at(seq int) Instant {
	if seq == forever {
		return t.end
	}
	return Instant(t.history[seq-1].Time)
}

func (t *transcript) window(process string, grant, from, to int) Window {
	w := Window{Process: process, Grant: grant, FromSeq: from, ToSeq: to, From: t.at(from), To: t.at(to)}
	if to == forever {
		w.ToSeq = 0
	}
	return w
}

// windowOf is a stretch of a grant's process.
func (t *transcript) windowOf(grant int, s span) Window {
	return t.window(t.ops[grant].process, grant, s.from, s.to)
}

// finding is one that is enclosed by a stretch and shown by the events at seqs.
func (t *transcript) finding(kind Kind, resource string, within span, seqs []int, windows ...Window) Finding {
	w := t.window("", 0, within.from, within.to)
	return Finding{Kind: kind, Resource: resource, Windows: windows,
		FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To, Seqs: seqs}
}

func malformed(e *history.Event, err error) error {
	return &history.InvalidError{Line: e.Seq, Err: fmt.Errorf("%w: %s: %w", ErrMalformed, e.Kind, err)}
}

// op returns the operation, nil if it was not called.
func (t *transcript) op(number int) *operation {
	if number < 1 || number >= len(t.ops) || t.ops[number].call == 0 {
		return nil
	}
	return &t.ops[number]
}

// resourceOf returns the resource of the lock that a call, return, expiry or effect is about, empty if it is about none.
func (t *transcript) resourceOf(e *history.Event) string {
	if o := t.op(e.Op); o != nil {
		return o.resource
	}
	if o := t.op(e.Grant); o != nil {
		return o.resource
	}
	return e.Resource
}

// on returns the resource that an effect is on.
func (t *transcript) on(e *history.Event) string {
	if e.Grant != 0 {
		return t.ops[e.Grant].resource
	}
	return e.Resource
}

// owners numbers those that may not hold at the same time: grants, or processes if locks are re-entrant.
func owners(t *transcript, reentrant bool) func(grant int) int {
	if !reentrant {
		return func(grant int) int { return grant }
	}
	processes := map[string]int{}
	return func(grant int) int {
		process := t.ops[grant].process
		n, ok := processes[process]
		if !ok {
			n = len(processes)
			processes[process] = n
		}
		return n
	}
}
