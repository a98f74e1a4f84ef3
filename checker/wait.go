package checker

import (
	"time"
)

// Wait is a stretch of true time in which a process asks for a resource: from the call of an acquire to its return, the
// crash of the process or the end of the run, and over a retry at the very time of the return. The zero Wait is none.
type Wait struct {
	Process string
	// FromSeq and ToSeq are the events that begin and end it, at From and To. ToSeq is 0, and To the end of the run, if
	// it never ended.
	FromSeq, ToSeq int
	From, To       Instant
	// Granted: it ended with a grant, and not with the process giving up or crashing, or the run ending.
	Granted bool
}

// For is how long it lasted.
func (w Wait) For() time.Duration { return w.To.Since(w.From) }

// Count is the largest number of something in one wait, and the first wait with that number; no wait if it is 0.
type Count struct {
	Number int
	Wait   Wait
}

func (t *transcript) wait(a asking) Wait {
	w := t.window(a.process, 0, a.from, a.to)
	return Wait{Process: a.process, FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To, Granted: a.granted}
}

// raise sets the count to n if that is larger.
func (c *Count) raise(t *transcript, n int, a asking) {
	if n > c.Number {
		*c = Count{Number: n, Wait: t.wait(a)}
	}
}

// grants are the Seqs at which each resource was granted, in the order of the calls.
func (t *transcript) grants() map[string][]int {
	granted := map[string][]int{}
	for _, op := range t.acquires {
		if o := &t.ops[op]; o.granted() {
			granted[o.resource] = append(granted[o.resource], o.ret)
		}
	}
	return granted
}

// mostAttempts counts the attempts of the wait that made most, whether or not the last of them was granted.
func mostAttempts(t *transcript, asked []asking) Count {
	var most Count
	for _, a := range asked {
		most.raise(t, a.attempts, a)
	}
	return most
}
