package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// answer is that of a search which may give up.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// Bounds of a search of porcupine. They are not in time, so that the answer is the same on every machine.
const (
	// maxStates bounds the memory: it is of the steps that lead to a state, each of which keeps a bit for every operation.
	maxStates = 100_000
	// maxSteps bounds the time: it is of the steps tried, legal or not. Where many operations are under way at once most
	// are not, as each of them is tried in each state.
	maxSteps = 500_000
)

// linearizable asks porcupine whether some order of n operations, each at an instant within its call and return, is one
// that the model allows. It asks for the operations only if it is to run. Unknown comes with the reason.
func linearizable(m porcupine.Model, n int, o Options, operations func() []porcupine.Operation) (answer, string) {
	limit := o.MaxOperations
	if limit == 0 {
		limit = DefaultMaxOperations
	}
	if limit < 0 {
		return unknown, "porcupine is turned off"
	}
	if n > limit {
		return unknown, fmt.Sprintf("%d operations, porcupine is given at most %d", n, limit)
	}
	if n == 0 {
		return yes, ""
	}
	steps, states, exhausted := 0, 0, ""
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		switch {
		case states == maxStates:
			exhausted = fmt.Sprintf("porcupine found no answer within %d states", maxStates)
		case steps == maxSteps:
			exhausted = fmt.Sprintf("porcupine found no answer within %d steps", maxSteps)
		}
		if exhausted != "" {
			// No further step is legal: porcupine finds no order and comes to an end, having gone back over those it took.
			return false, state
		}
		steps++
		ok, next := step(state, input, output)
		if ok {
			states++
		}
		return ok, next
	}
	switch {
	case porcupine.CheckOperations(m, operations()):
		return yes, ""
	case exhausted != "":
		return unknown, exhausted
	}
	return no, ""
}

// lockAct is what an operation does to the mutex.
type lockAct int

const (
	take  lockAct = iota // free, or the owner's own if the lock is re-entrant
	leave                // the owner's last take is undone
	touch                // held by the owner for an instant
)

type lockInput struct {
	act   lockAct
	owner int
}

// mutex is the state of a lock with owners. An owner may take it again: a process that of a re-entrant lock, and a
// grant with an extend that was called before its window ended and answered after, which frees nothing for others.
type mutex struct {
	owner int
	depth int
}

var mutexModel = porcupine.Model{
	Init: func() any { return mutex{} },
	Step: func(state, input, _ any) (bool, any) {
		s, in := state.(mutex), input.(lockInput)
		free := s.depth == 0 || s.owner == in.owner
		switch in.act {
		case take:
			return free, mutex{in.owner, s.depth + 1}
		case leave:
			if s.depth == 1 {
				return s.owner == in.owner, mutex{}
			}
			return s.depth > 1 && s.owner == in.owner, mutex{s.owner, s.depth - 1}
		}
		return free, s
	},
}

// exclusive asks porcupine whether holds and confirmations of one resource are what a mutex allows.
//
// The acquire, or extend, that begins a hold takes the mutex at an instant within its call and return; the end of the
// hold leaves it at that event; a confirmation touches it at an instant within its own. Failed acquires are left out:
// they are legal even on a free lock, as votes may be split.
func exclusive(t *transcript, holds []hold, confirmations []confirmation, o Options) (answer, string) {
	n := len(holds) + len(confirmations)
	for i := range holds {
		if holds[i].to != forever {
			n++
		}
	}
	return linearizable(mutexModel, n, o, func() []porcupine.Operation { return mutexOperations(t, holds, confirmations, o) })
}

// mutexOperations are those that exclusive asks about. Each has its grant as Metadata.
func mutexOperations(t *transcript, holds []hold, confirmations []confirmation, o Options) []porcupine.Operation {
	ops, owner := make([]porcupine.Operation, 0, 2*len(holds)+len(confirmations)), owners(t, o.Reentrant)
	add := func(act lockAct, grant int, s span) {
		ops = append(ops, porcupine.Operation{
			Input: lockInput{act, owner(grant)}, Call: int64(s.from), Return: int64(s.to), Metadata: grant,
		})
	}
	for _, h := range holds {
		add(take, h.grant, span{h.call, h.from})
		if h.to != forever {
			add(leave, h.grant, span{h.to, h.to})
		}
	}
	for _, c := range confirmations {
		add(touch, c.grant, c.span)
	}
	return ops
}
