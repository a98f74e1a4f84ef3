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

// maxStates bounds a search of porcupine in the states it may reach, each of which keeps a bit for every operation. A
// bound in states and not in time gives the same answer on every machine.
const maxStates = 100_000

// linearizable asks porcupine whether some order of ops, each at an instant within its call and return, is one that the
// model allows. Unknown comes with the reason.
func linearizable(m porcupine.Model, ops []porcupine.Operation, o Options) (answer, string) {
	limit := o.MaxOperations
	if limit == 0 {
		limit = DefaultMaxOperations
	}
	if limit < 0 {
		return unknown, "porcupine is turned off"
	}
	if len(ops) > limit {
		return unknown, fmt.Sprintf("%d operations, porcupine is given at most %d", len(ops), limit)
	}
	if len(ops) == 0 {
		return yes, ""
	}
	states, exhausted := 0, false
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		if states == maxStates {
			// No further step is legal: porcupine finds no order and comes to an end.
			exhausted = true
			return false, state
		}
		ok, next := step(state, input, output)
		if ok {
			states++
		}
		return ok, next
	}
	switch {
	case porcupine.CheckOperations(m, ops):
		return yes, ""
	case exhausted:
		return unknown, fmt.Sprintf("porcupine found no answer within %d states", maxStates)
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
	owner any
}

// mutex is the state of a lock with owners. An owner may take it again: a process that of a re-entrant lock, and a
// grant with an extend that was called before its window ended and answered after, which frees nothing for others.
type mutex struct {
	owner any
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
	var ops []porcupine.Operation
	add := func(act lockAct, grant int, s span) {
		ops = append(ops, porcupine.Operation{
			Input: lockInput{act, t.owner(grant, o.Reentrant)}, Call: int64(s.from), Return: int64(s.to),
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
	return linearizable(mutexModel, ops, o)
}
