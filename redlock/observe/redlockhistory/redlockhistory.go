// Package redlockhistory writes what clients of package redlock ask and are told, as a history that redlocksim check judges:
//
//	log, err := os.OpenFile("history.jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
//	history := redlockhistory.New(log, redlockhistory.Options{Process: hostname})
//	client, err := redlock.New(nodes, redlock.WithObserver(history))
//
// Each process writes a file of its own, and check judges them together:
//
//	redlocksim check --model lease --lease 10s --merge --clock-error 5ms *.jsonl
//
// The length of the lease is the TTL that the locks were acquired with. A lease that is lost is written as a release of unknown
// outcome, when the client notices. The model owner therefore calls it bad if a client that stood still for longer than its
// lease noticed too late. The format is described in docs/histories.md. It has the names of the locks, never their values. A
// lock on several resources counts as one lock, with the name that its lease has.
package redlockhistory

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Options say how a history is written.
type Options struct {
	// Process tells this program from others whose histories are merged with this one: a host name and process id will do.
	Process string
	// OnError is told of the first error of the writer, on the goroutine of the call whose line could not be written. Nil
	// leaves it to Err.
	OnError func(error)
}

// Observer writes the history, and may serve several clients. Make one with [New].
type Observer struct {
	options Options

	mu    sync.Mutex
	w     io.Writer
	err   error
	calls map[string]*operation // by Event.Call, while one is under way
}

// operation is what a call or its lease is doing.
type operation struct {
	f string
	// unanswered is how many extends are under way. Of those that overlap, nobody could tell which one an answer is to.
	unanswered int
	closed     bool // its outcome has been written
	lost       bool // the lease was lost before its grant was reported
}

// New makes an observer. Each line is one Write to w, which is not called by two goroutines at once. After its first error no
// more is written: a history with a gap could accuse a lock that works.
func New(w io.Writer, o Options) *Observer {
	return &Observer{options: o, w: w, calls: map[string]*operation{}}
}

// Err gives the error for which the history ends; nil if there was none.
func (o *Observer) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Observe writes the lines for one step.
func (o *Observer) Observe(_ context.Context, e observe.Event) {
	if failed := o.record(e); failed != nil && o.options.OnError != nil {
		o.options.OnError(failed)
	}
}

// record returns the error of the writer if it is the first.
func (o *Observer) record(e observe.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.err
	switch e.Step {
	case observe.AttemptStarted:
		o.begin(e, "acquire")
	case observe.Granted:
		lost := o.calls[e.Call] != nil && o.calls[e.Call].lost
		o.end(e, "ok")
		if lost {
			o.giveUp(e)
		}
	case observe.Denied, observe.GaveUp:
		o.end(e, "fail")
	case observe.ExtendStarted:
		o.extend(e)
	case observe.Extended:
		o.extended(e, "ok")
	case observe.NotExtended:
		// Some nodes may have extended it.
		o.extended(e, "info")
	case observe.ReleaseStarted:
		o.begin(e, "release")
	case observe.Released:
		if e.Err == nil {
			o.end(e, "ok")
		} else {
			o.end(e, "info")
		}
	case observe.Lost:
		switch op := o.calls[e.Call]; {
		case op == nil || op.f == "extend":
			o.giveUp(e)
		case op.f == "acquire":
			op.lost = true
		}
	}
	if before != nil {
		return nil
	}
	return o.err
}

// begin writes the call of an operation. An extend that is still under way has an unknown outcome then.
func (o *Observer) begin(e observe.Event, f string) {
	if op := o.calls[e.Call]; op != nil && !op.closed {
		o.write(e, "info", op.f)
	}
	o.calls[e.Call] = &operation{f: f}
	o.write(e, "invoke", f)
}

// giveUp writes that a holder relies on its lease no longer. The nodes may keep the lock for a while.
func (o *Observer) giveUp(e observe.Event) {
	o.begin(e, "release")
	o.end(e, "info")
}

func (o *Observer) end(e observe.Event, outcome string) {
	op := o.calls[e.Call]
	if op == nil {
		return
	}
	delete(o.calls, e.Call)
	o.write(e, outcome, op.f)
}

func (o *Observer) extend(e observe.Event) {
	op := o.calls[e.Call]
	switch {
	case op == nil:
		o.begin(e, "extend")
	case op.f != "extend":
		return
	case !op.closed:
		o.write(e, "info", "extend")
		op.closed = true
	}
	o.calls[e.Call].unanswered++
}

func (o *Observer) extended(e observe.Event, outcome string) {
	op := o.calls[e.Call]
	if op == nil || op.f != "extend" {
		return
	}
	if op.unanswered--; op.unanswered > 0 {
		return
	}
	delete(o.calls, e.Call)
	if !op.closed {
		o.write(e, outcome, "extend")
	}
}

// line is a line of the history.
type line struct {
	Process string `json:"process"`
	Type    string `json:"type"`
	F       string `json:"f"`
	Lock    string `json:"lock"`
	Value   *int64 `json:"value,omitempty"` // the fencing token
	Time    string `json:"time"`
}

// write writes a line with the time of now. Lines are written in the order of their times, unless the clock is set back.
func (o *Observer) write(e observe.Event, typ, f string) {
	if o.err != nil {
		return
	}
	// A lease is a process of its own: the others of its program neither hold the lock with it nor may release it.
	l := line{Process: o.options.Process + "/" + observe.Fingerprint(e.Call), Type: typ, F: f, Lock: e.Resource,
		Time: time.Now().UTC().Format(time.RFC3339Nano)}
	if e.Step == observe.Granted && e.Op == driver.OpAcquire && e.Token != 0 {
		l.Value = &e.Token
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = o.w.Write(append(text, '\n'))
	}
	o.err = err
}
