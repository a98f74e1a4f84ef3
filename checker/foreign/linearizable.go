package foreign

import (
	"encoding/binary"
	"fmt"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker"
)

// maxPorcupineUnknown bounds what porcupine is given of one lock in operations of unknown outcome, each of which doubles
// what may be the case.
const maxPorcupineUnknown = 50

// maxPorcupineSteps bounds a search of porcupine in the states it tries a step from. Package checker bounds the steps,
// but where operations may have happened or not, one step is from all the states that may be the case. It is half a
// second.
const maxPorcupineSteps = 500_000

// confirm asks porcupine whether the operations on a lock are what the model allows, and whether that is what the hold
// intervals said.
func (h *recording) confirm(r *Report, ops []int32, o Options, bad bool, given *int) error {
	legal, why := false, ""
	switch {
	case len(ops) == 0:
		r.Confirmed++
		return nil
	case o.MaxPorcupine >= 0 && *given > maxPorcupineTotal:
		why = fmt.Sprintf("porcupine is given at most %d operations in all", maxPorcupineTotal)
	default:
		legal, why = h.linearizable(ops, o)
		*given += len(ops)
		if why != "" {
			// To find no answer takes longer.
			*given += maxPorcupineTotal / 10
		}
	}
	if why != "" {
		r.Unconfirmed = why
		return nil
	}
	if legal == bad {
		return &checker.DisagreeError{Kind: checker.LeaseOverlap, Resource: h.locks.in[h.ops[ops[0]].lock], Direct: bad, Linearizable: !legal}
	}
	r.Confirmed++
	return nil
}

func (h *recording) linearizable(ops []int32, o Options) (bool, string) {
	most := o.MaxPorcupine
	if most == 0 {
		most = checker.DefaultMaxOperations
	}
	switch {
	case most < 0:
		return false, "porcupine is turned off"
	case len(ops) > most:
		return false, fmt.Sprintf("porcupine is given at most %d operations on a lock", most)
	}
	if o.Model == Lease {
		// A hold begins and ends, which are two operations.
		return h.leasesLinearizable(ops, o, 2*most)
	}
	unknowns := 0
	for _, i := range ops {
		if h.ops[i].outcome == unknown {
			unknowns++
		}
	}
	if unknowns > maxPorcupineUnknown {
		return false, fmt.Sprintf("porcupine is given at most %d operations of unknown outcome on a lock", maxPorcupineUnknown)
	}
	steps := 0
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{owner: none}} },
		Step: func(st, in, _ any) []any {
			s, i := st.(state), in.(input)
			if steps++; steps > maxPorcupineSteps {
				return nil
			}
			next, legal := i.apply(s, o.Model)
			switch {
			case !i.optional && !legal:
				return nil
			case !i.optional:
				return []any{next.seen(i)}
			case legal && s.allows(i):
				return []any{s, next}
			}
			return []any{s}
		},
	}
	legal, why := checker.Linearizable(model.ToModel(), h.inputs(ops, o), most)
	if why == "" && !legal && steps > maxPorcupineSteps {
		why = fmt.Sprintf("porcupine found no answer within %d steps", maxPorcupineSteps)
	}
	return legal, why
}

// state is that of a lock.
type state struct {
	owner int32 // none if it is free
	depth int
	token int64
	// grants says whether there was one, and so token means something.
	grants bool
	// successes counts, two bytes each, the operations that succeeded of the processes that had one after one of unknown
	// outcome.
	successes string
}

// input is an operation.
type input struct {
	fn      function
	process int32
	token   int64
	fenced  bool
	// optional: it may not have happened.
	optional bool
	// slot is the place of the process in state.successes, none if it has none. For an optional operation that means
	// that it can happen at any time; otherwise only while the process had so many successes.
	slot      int
	successes uint16
}

// apply is what becomes of the lock, and whether it can.
func (i input) apply(s state, m Model) (state, bool) {
	mine := s.owner == i.process || m == Mutex
	switch {
	case i.fn == acquire && s.owner == none:
		if i.fenced && s.grants && i.token <= s.token {
			return s, false
		}
		s.owner, s.depth = i.process, 1
		if i.fenced {
			s.token, s.grants = i.token, true
		}
		return s, true
	case i.fn == acquire:
		s.depth++
		return s, m == Reentrant && mine
	case s.owner == none || !mine:
		return s, false
	case i.fn == release:
		if s.depth--; s.depth == 0 {
			s.owner = none
		}
	}
	return s, true
}

func (s state) had(slot int) uint16 {
	if 2*slot >= len(s.successes) {
		return 0
	}
	return uint16(s.successes[2*slot]) | uint16(s.successes[2*slot+1])<<8
}

// seen counts a success.
func (s state) seen(i input) state {
	if i.slot == none {
		return s
	}
	b := []byte(s.successes)
	for len(b) <= 2*i.slot {
		b = append(b, 0, 0)
	}
	binary.LittleEndian.PutUint16(b[2*i.slot:], s.had(i.slot)+1)
	s.successes = string(b)
	return s
}

// allows reports whether it is not too late for the operation to happen.
func (s state) allows(i input) bool { return i.slot == none || s.had(i.slot) == i.successes }

// inputs gives porcupine the operations as they were recorded. One of unknown outcome can take effect until the next
// success of its process, which the slots see to; where locks have no owners, at any time.
func (h *recording) inputs(ops []int32, o Options) []porcupine.Operation {
	slots := map[int32]int{}
	if o.Model != Mutex {
		uncertain := map[int32]bool{}
		for _, i := range ops {
			op := &h.ops[i]
			_, has := slots[op.process]
			switch {
			case op.outcome == unknown:
				uncertain[op.process] = true
			case op.outcome == ok && uncertain[op.process] && !has:
				slots[op.process] = len(slots)
			}
		}
	}
	successes := map[int32]uint16{}
	var all []porcupine.Operation
	for _, i := range ops {
		op := &h.ops[i]
		if op.outcome == failed || op.outcome == unknown && op.fn == extend {
			continue
		}
		in := input{fn: op.fn, process: op.process, token: op.token, optional: op.outcome == unknown, slot: none}
		in.fenced = o.Model == Fenced && op.fn == acquire && !in.optional
		if slot, has := slots[op.process]; has {
			in.slot, in.successes = slot, successes[op.process]
			if !in.optional {
				successes[op.process]++
			}
		}
		all = append(all, porcupine.Operation{Input: in, Call: int64(at(op.call)), Return: int64(at(op.ret))})
	}
	return all
}

// leaseAct is what happens to a lock with leases: a hold begins, ends, or is confirmed for an instant.
type leaseAct struct {
	hold int // from 1
	does function
}

var leaseModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, in, _ any) (bool, any) {
		s, a := state.(int), in.(leaseAct)
		switch a.does {
		case acquire:
			return s == 0, a.hold
		case release:
			return s == a.hold, 0
		}
		return s == 0, s
	},
}

// leasesLinearizable gives porcupine the windows of leases: each is taken within the operation that began it and left at
// its end. Whether an operation needed the lock and could not have it is not a matter of order, and known before.
func (h *recording) leasesLinearizable(ops []int32, o Options, most int) (bool, string) {
	c := h.claim(ops, o)
	var all []porcupine.Operation
	add := func(a leaseAct, from, to int) {
		all = append(all, porcupine.Operation{Input: a, Call: int64(from), Return: int64(to)})
	}
	for i, b := range c.holds {
		add(leaseAct{i + 1, acquire}, b.call, b.from)
		if b.to != never {
			add(leaseAct{i + 1, release}, b.to, b.to)
		}
	}
	for _, t := range c.touches {
		add(leaseAct{0, extend}, t.from, t.to)
	}
	legal, why := checker.Linearizable(leaseModel, all, most)
	return legal && len(c.faults) == 0, why
}
