package checker

import (
	"fmt"
	"slices"

	"redlocksim/sim/history"
)

// transcribe pairs calls with returns. The run ended at end, but not before the last event.
//
// It refuses a history that no run can have recorded: calls and returns do not match, it names grants or operations that were
// never called, a client was told two things that cannot both be true, or did what only another can. A verdict on it would mean
// nothing, and a wrong record can hide an overlap.
func transcribe(h history.History, end Instant) (*transcript, error) {
	t := &transcript{history: h, end: max(end, Instant(h[len(h)-1].Time))}
	calls := 0
	for i := range h {
		e := &h[i]
		if e.Kind == history.Call {
			calls++
		}
	}
	t.ops = make([]operation, 1, calls+1)
	known := map[string]bool{}
	open := map[string][]int{}
	for i := range h {
		e := &h[i]
		if err := t.take(e, open); err != nil {
			return nil, malformed(e, err)
		}
		resource := e.Resource
		if e.Kind == history.Call {
			resource = t.ops[e.Op].resource
		}
		if resource != "" && !known[resource] && (e.Kind == history.Call || e.Kind == history.Effect) {
			known[resource] = true
			t.resources = append(t.resources, resource)
		}
	}
	slices.Sort(t.resources)
	return t, nil
}

// take enters one event; open has the operations of each process that have not returned.
func (t *transcript) take(e *history.Event, open map[string][]int) error {
	if e.Basis != 0 && (e.Kind != history.Call && e.Kind != history.Effect || e.Func != history.Write) {
		return fmt.Errorf("builds on operation %d, as only the call or effect of a write can", e.Basis)
	}
	isGrant := e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	if e.Token != 0 && e.Kind != history.Effect && !isGrant {
		return fmt.Errorf("token %d, which only a grant or an effect has", e.Token)
	}
	switch e.Kind {
	case history.Call:
		return t.takeCall(e, open)
	case history.Return:
		return t.takeReturn(e, open)
	case history.Expire:
		if e.Grant == 0 {
			return fmt.Errorf("of no grant")
		}
		return t.belongs(e, e.Grant)
	case history.Effect:
		return t.takeEffect(e)
	case history.Step:
		if o := t.op(e.Op); o != nil && o.fn == history.Acquire && o.ret == forever && o.crash == forever {
			o.attempts = max(o.attempts, int(min(e.Number, int64(forever))))
		}
	case history.Crash:
		if e.Process == "" {
			return fmt.Errorf("of no process")
		}
		for _, op := range open[e.Process] {
			t.ops[op].crash = e.Seq
		}
		delete(open, e.Process)
	}
	return nil
}

func (t *transcript) takeCall(e *history.Event, open map[string][]int) error {
	// Operations are numbered from 1, so none can have a number beyond the number of events.
	if e.Op < 1 || e.Op > len(t.history) {
		return fmt.Errorf("operation %d", e.Op)
	}
	if t.op(e.Op) != nil {
		return fmt.Errorf("operation %d was called before", e.Op)
	}
	if e.Process == "" {
		return fmt.Errorf("of no process")
	}
	o := operation{fn: e.Func, process: e.Process, resource: e.Resource, grant: e.Grant, call: e.Seq,
		ret: forever, number: e.Number, basis: e.Basis, crash: forever}
	switch e.Func {
	case history.Acquire:
		if e.Grant != 0 && e.Grant != e.Op {
			return fmt.Errorf("acquire under grant %d", e.Grant)
		}
		o.grant = 0
		t.acquires = append(t.acquires, e.Op)
	case history.Extend, history.Release:
		if e.Grant == 0 {
			return fmt.Errorf("%s of no grant", e.Func)
		}
		fallthrough
	default:
		if err := t.belongs(e, e.Grant); err != nil {
			return err
		}
		if e.Grant != 0 {
			o.resource = t.ops[e.Grant].resource
		}
	}
	if o.resource == "" {
		return fmt.Errorf("%s of no resource", e.Func)
	}
	if read := t.op(e.Basis); e.Basis != 0 && (read == nil || read.fn != history.Read || read.outcome != history.OK ||
		read.process != o.process || read.resource != o.resource || read.grant == o.grant && o.grant != 0) {
		return fmt.Errorf("builds on operation %d, which is no read of %q by %s under another grant that has succeeded", e.Basis, o.resource, o.process)
	}
	for len(t.ops) <= e.Op {
		t.ops = append(t.ops, operation{})
	}
	t.ops[e.Op] = o
	open[e.Process] = append(open[e.Process], e.Op)
	return nil
}

func (t *transcript) takeReturn(e *history.Event, open map[string][]int) error {
	o := t.op(e.Op)
	switch {
	case o == nil:
		return fmt.Errorf("operation %d was never called", e.Op)
	case o.ret != forever:
		return fmt.Errorf("operation %d returned before", e.Op)
	case o.crash != forever:
		return fmt.Errorf("operation %d returns after its process crashed", e.Op)
	case o.process != e.Process || o.fn != e.Func:
		return fmt.Errorf("operation %d is %s of %s", e.Op, o.fn, o.process)
	case o.number != 0 && e.Number != 0 && o.number != e.Number && o.fn == history.Write:
		return fmt.Errorf("operation %d writes %d, not %d", e.Op, o.number, e.Number)
	case e.Grant != 0 && e.Grant != o.grant && (e.Func != history.Acquire || e.Grant != e.Op):
		return fmt.Errorf("operation %d is under grant %d, not %d", e.Op, o.grant, e.Grant)
	case e.Resource != "" && e.Resource != o.resource:
		return fmt.Errorf("operation %d is on %q, not %q", e.Op, o.resource, e.Resource)
	}
	o.ret, o.outcome = e.Seq, e.Outcome
	if e.Number != 0 || o.fn == history.Read {
		o.number = e.Number
	}
	rest := open[o.process]
	i := slices.Index(rest, e.Op)
	open[o.process] = slices.Delete(rest, i, i+1)
	switch {
	case e.Outcome != history.OK:
	case e.Func == history.Acquire:
		o.token = e.Token
	case e.Func == history.Extend || e.Func == history.Release:
		if err := t.belongs(e, o.grant); err != nil {
			return err
		}
		grant := &t.ops[o.grant]
		if grant.released != 0 && grant.released < o.call {
			return fmt.Errorf("grant %d was released by event %d", o.grant, grant.released)
		}
		if e.Func == history.Release && grant.released == 0 {
			grant.released = e.Seq
		}
	}
	return nil
}

func (t *transcript) takeEffect(e *history.Event) error {
	o := t.op(e.Op)
	switch {
	case e.Grant == 0 && e.Resource == "":
		return fmt.Errorf("on no resource")
	case e.Op != 0 && (o == nil || o.fn != e.Func || o.grant != e.Grant):
		return fmt.Errorf("operation %d is no %s under grant %d", e.Op, e.Func, e.Grant)
	case o != nil && e.Process != "" && e.Process != o.process:
		return fmt.Errorf("operation %d is %s's, not %s's", e.Op, o.process, e.Process)
	}
	if err := t.belongs(e, e.Grant); err != nil {
		return err
	}
	if known := t.op(e.Basis); e.Basis != 0 && (known == nil || known.fn != history.Read && known.fn != history.Write ||
		known.process != e.Process || known.resource != t.on(e)) {
		return fmt.Errorf("goes by the version of operation %d, which is no read or write of %q by %s", e.Basis, t.on(e), e.Process)
	}
	if e.Grant == 0 {
		return nil
	}
	if token := t.ops[e.Grant].token; e.Token != 0 && token != 0 && token != e.Token {
		return fmt.Errorf("grant %d has the token %d, not %d", e.Grant, token, e.Token)
	}
	return nil
}

// belongs says why an event cannot be about a grant: it is no acquire, of another resource or process, or was refused.
func (t *transcript) belongs(e *history.Event, grant int) error {
	if grant == 0 {
		return nil
	}
	o := t.op(grant)
	switch {
	case o == nil || o.fn != history.Acquire:
		return fmt.Errorf("grant %d is no acquire", grant)
	case e.Resource != "" && e.Resource != o.resource:
		return fmt.Errorf("grant %d is of %q, not %q", grant, o.resource, e.Resource)
	case e.Process != "" && e.Process != o.process:
		return fmt.Errorf("grant %d is %s's, not %s's", grant, o.process, e.Process)
	case o.outcome == history.Failed:
		return fmt.Errorf("grant %d was refused", grant)
	}
	return nil
}
