package checker

import (
	"fmt"
	"slices"

	"redlocksim/sim/history"
)

// transcribe pairs calls with returns. It refuses a history in which they do not match, or which names grants or operations
// that were never called. The run ended at end, but not before the last event.
func transcribe(l *Log, end Instant) (*transcript, error) {
	t := &transcript{Log: l, end: max(end, l.last), released: map[int]int{}, tokens: map[int]int64{}}
	calls := 0
	for e := range l.Events() {
		if e.Kind == history.Call {
			calls++
		}
	}
	t.ops = make([]operation, 1, calls+1)
	known := map[string]bool{}
	open := map[string][]int{}
	for e := range l.Events() {
		err := t.take(e, open)
		if err == nil {
			err = t.contradicts(e)
		}
		if err != nil {
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
	if e.Basis != 0 && (e.Kind != history.Call || e.Func != history.Write) {
		return fmt.Errorf("builds on operation %d, as only the call of a write can", e.Basis)
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
		return t.checkGrant(e)
	case history.Effect:
		if e.Grant == 0 && e.Resource == "" {
			return fmt.Errorf("on no resource")
		}
		if o := t.op(e.Op); e.Op != 0 && (o == nil || o.fn != e.Func || o.grant != e.Grant) {
			return fmt.Errorf("operation %d is no %s under grant %d", e.Op, e.Func, e.Grant)
		}
		return t.checkGrant(e)
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
	if e.Op < 1 || e.Op > t.Len() {
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
		o.grant = 0
		t.acquires = append(t.acquires, e.Op)
	case history.Extend, history.Release:
		if e.Grant == 0 {
			return fmt.Errorf("%s of no grant", e.Func)
		}
		fallthrough
	default:
		if err := t.checkGrant(e); err != nil {
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
	}
	o.ret, o.outcome = e.Seq, e.Outcome
	if e.Number != 0 || o.fn == history.Read {
		o.number = e.Number
	}
	rest := open[o.process]
	i := slices.Index(rest, e.Op)
	open[o.process] = slices.Delete(rest, i, i+1)
	return nil
}

// checkGrant refuses a grant that is no acquire, or of another resource than the event's.
func (t *transcript) checkGrant(e *history.Event) error {
	if e.Grant == 0 {
		return nil
	}
	o := t.op(e.Grant)
	if o == nil || o.fn != history.Acquire {
		return fmt.Errorf("grant %d is no acquire", e.Grant)
	}
	if e.Resource != "" && e.Resource != o.resource {
		return fmt.Errorf("grant %d is of %q, not %q", e.Grant, o.resource, e.Resource)
	}
	return nil
}
