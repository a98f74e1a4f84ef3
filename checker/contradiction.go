package checker

import (
	"fmt"
	"sort"

	"redlocksim/sim/history"
)

// A history is refused if no run can have recorded it: a client was told two things that cannot both be true, or did what only
// another can. A verdict on it would mean nothing, and a wrong record can hide an overlap.

// contradicts says why e cannot follow the events entered so far. e itself is valid, and about existing operations.
func (t *transcript) contradicts(e *history.Event) error {
	isGrant := e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
	if e.Token != 0 && e.Kind != history.Effect && !isGrant {
		return fmt.Errorf("token %d, which only a grant or an effect has", e.Token)
	}
	switch e.Kind {
	case history.Call:
		return t.callContradicts(e)
	case history.Return:
		return t.returnContradicts(e)
	case history.Expire:
		return t.belongs(e, e.Grant)
	case history.Effect:
		return t.effectContradicts(e)
	}
	return nil
}

// belongs says why e cannot be about the grant: it is another process's, or was never granted.
func (t *transcript) belongs(e *history.Event, grant int) error {
	if grant == 0 {
		return nil
	}
	o := &t.ops[grant]
	if e.Process != "" && e.Process != o.process {
		return fmt.Errorf("grant %d is %s's, not %s's", grant, o.process, e.Process)
	}
	if o.outcome == history.Failed {
		return fmt.Errorf("grant %d was refused", grant)
	}
	return nil
}

func (t *transcript) callContradicts(e *history.Event) error {
	if e.Func == history.Acquire {
		if e.Grant != 0 && e.Grant != e.Op {
			return fmt.Errorf("acquire under grant %d", e.Grant)
		}
		return nil
	}
	return t.belongs(e, e.Grant)
}

func (t *transcript) returnContradicts(e *history.Event) error {
	o := t.op(e.Op)
	if e.Grant != 0 && e.Grant != o.grant && (e.Func != history.Acquire || e.Grant != e.Op) {
		return fmt.Errorf("operation %d is under grant %d, not %d", e.Op, o.grant, e.Grant)
	}
	if e.Resource != "" && e.Resource != o.resource {
		return fmt.Errorf("operation %d is on %q, not %q", e.Op, o.resource, e.Resource)
	}
	if e.Outcome != history.OK {
		return nil
	}
	switch e.Func {
	case history.Acquire:
		t.tokens[e.Op] = e.Token
	case history.Extend, history.Release:
		if err := t.belongs(e, o.grant); err != nil {
			return err
		}
		if released := t.released[o.grant]; released != 0 && released < o.call {
			return fmt.Errorf("grant %d was released by event %d", o.grant, released)
		}
		if e.Func == history.Release && t.released[o.grant] == 0 {
			t.released[o.grant] = e.Seq
		}
	}
	return nil
}

func (t *transcript) effectContradicts(e *history.Event) error {
	if o := t.op(e.Op); o != nil && e.Process != "" && e.Process != o.process {
		return fmt.Errorf("operation %d is %s's, not %s's", e.Op, o.process, e.Process)
	}
	if token := t.tokens[e.Grant]; e.Grant != 0 && e.Token != 0 && token != 0 && token != e.Token {
		return fmt.Errorf("grant %d has the token %d, not %d", e.Grant, token, e.Token)
	}
	return t.belongs(e, e.Grant)
}

// trespass refuses a history in which the resource accepted a write without a grant while another process certainly held the
// lock. Whether that broke the lock depends on what the write was made under.
func (t *transcript) trespass(l *leases) error {
	longest := map[string][]int{}
	for e := range t.Events() {
		if e.Kind != history.Effect || e.Outcome != history.OK || e.Func != history.Write || e.Grant != 0 {
			continue
		}
		holds := l.holds[e.Resource]
		began := sort.Search(len(holds), func(i int) bool { return holds[i].from > e.Seq })
		if began == 0 {
			continue
		}
		if longest[e.Resource] == nil {
			longest[e.Resource] = lastingLongest(holds)
		}
		for _, i := range []int{began - 1, longest[e.Resource][began-1]} {
			if holder := t.ops[holds[i].grant].process; e.Seq < holds[i].to && holder != e.Process {
				return malformed(e, fmt.Errorf("write on %q under no grant, while %s holds it under grant %d",
					e.Resource, holder, holds[i].grant))
			}
		}
	}
	return nil
}

// lastingLongest gives, for each of the holds, that which lasts longest of it and those before it.
func lastingLongest(holds []hold) []int {
	longest := make([]int, len(holds))
	for i := 1; i < len(holds); i++ {
		if longest[i] = longest[i-1]; holds[i].to > holds[longest[i]].to {
			longest[i] = i
		}
	}
	return longest
}
