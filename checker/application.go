package checker

import (
	"fmt"
	"slices"

	"redlocksim/sim/history"
)

// actor is who reads and writes: a grant, or a process without one.
type actor struct {
	grant   int
	process string
}

func actorOf(grant int, process string) actor {
	if grant != 0 {
		return actor{grant: grant}
	}
	return actor{process: process}
}

// application is what the reads and writes did at the resource.
type application struct {
	// accepted are the Seqs of the effect of each operation, by its Op; 0 if it has none or was turned down.
	accepted []int
	// of is the operation that an accepted effect is of, by its Seq; 0 for an effect without an operation of its own:
	// the second of a message that came twice, or any of a history that does not record the calls.
	of map[int]int
	// recorded has the resources with any effect: on these, what has no effect did not happen.
	recorded map[string]bool
}

// apply matches effects to the operations they are of: by Op where the effect has one, otherwise to the first call of
// the same function under the same grant that is still without an effect and speaks of the same number.
func apply(t *transcript) *application {
	a := &application{accepted: make([]int, len(t.ops)), of: map[int]int{}, recorded: map[string]bool{}}
	waiting := map[actor][]int{}
	for e := range t.Events() {
		if e.Kind == history.Call && (e.Func == history.Read || e.Func == history.Write) {
			by := actorOf(e.Grant, e.Process)
			waiting[by] = append(waiting[by], e.Op)
			continue
		}
		if e.Kind != history.Effect {
			continue
		}
		a.recorded[t.on(e)] = true
		by := actorOf(e.Grant, e.Process)
		if e.Op != 0 {
			by = actorOf(t.ops[e.Op].grant, t.ops[e.Op].process)
		}
		ops := waiting[by]
		i := slices.IndexFunc(ops, func(op int) bool {
			return op == e.Op || e.Op == 0 && t.ops[op].becomes(e)
		})
		if i < 0 {
			continue
		}
		if e.Outcome == history.OK {
			a.accepted[ops[i]], a.of[e.Seq] = e.Seq, ops[i]
		}
		if ops = slices.Delete(ops, i, i+1); len(ops) == 0 {
			delete(waiting, by)
		} else {
			waiting[by] = ops
		}
	}
	return a
}

// becomes reports whether e can be the effect of o.
func (o *operation) becomes(e *history.Event) bool {
	switch {
	case o.fn != e.Func || e.Resource != "" && e.Resource != o.resource:
		return false
	case o.fn == history.Write:
		return o.number == e.Number || o.number == 0 && o.ret == forever
	case o.outcome == history.OK:
		return e.Seq < o.ret && o.number == e.Number
	}
	return true
}

// contradiction says how what the client was told of the operation cannot be what happened at the resource.
func (a *application) contradiction(op int, o *operation, t *transcript) error {
	accepted := a.accepted[op]
	switch {
	case o.outcome == history.OK && (accepted == 0 || accepted > o.ret):
		return fmt.Errorf("%s %d succeeded, but the resource had not accepted it", o.fn, op)
	case o.outcome == history.Failed && accepted != 0:
		return fmt.Errorf("%s %d failed, but the resource accepted it", o.fn, op)
	case accepted != 0 && (o.outcome == history.OK || o.fn == history.Write && o.number != 0) &&
		t.Event(accepted).Number != o.number:
		return fmt.Errorf("%s %d is of %d, its effect of %d", o.fn, op, o.number, t.Event(accepted).Number)
	}
	return nil
}
