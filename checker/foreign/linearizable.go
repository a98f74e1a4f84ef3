package foreign

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker"
)

// maxPorcupineTotal bounds what porcupine is given of one history, so that many locks below the bound for one do not
// add up to minutes.
const maxPorcupineTotal = 50_000

// maxPorcupineUnknown bounds what porcupine is given of one lock in operations of unknown outcome, each of which doubles
// what may be the case.
const maxPorcupineUnknown = 50

// maxPorcupineSteps bounds a search of porcupine in the states it tries a step from. Package checker bounds the steps,
// but where operations may have happened or not, one step is from all the states that may be the case. To give up takes
// seconds of processor time.
const maxPorcupineSteps = 500_000

// confirm asks porcupine, the second opinion, whether the operations on a lock are what the model allows, and whether
// that is what the first opinion said.
func (h *recording) confirm(
	r *Report, ops []int32, o Options,
	second func(*recording, []int32, Options) (legal bool, undecided string), first *judgement, given *int,
) error {
	legal, why := false, ""
	switch {
	case len(ops) == 0:
		r.Confirmed++
		return nil
	case o.MaxPorcupine >= 0 && *given > maxPorcupineTotal:
		why = fmt.Sprintf("porcupine is given at most %d operations in all", maxPorcupineTotal)
	default:
		legal, why = second(h, ops, o)
		*given += len(ops)
		if why != "" {
			// To find no answer takes longer.
			*given += maxPorcupineTotal / 10
		}
	}
	bad := len(first.breaches) > 0
	switch {
	case first.undecided != "" && why != "":
		return &InputError{
			File: h.fileOf(h.ops[ops[len(ops)-1]].process), Line: int(h.ops[ops[len(ops)-1]].callLine),
			Err: fmt.Errorf("%w: %s; %s", ErrUndecided, first.undecided, why),
		}
	case why != "":
		r.Unconfirmed = why
	case first.undecided != "":
		// Porcupine alone knows.
		r.Unconfirmed = first.undecided
		if !legal {
			grants := h.granted(ops)
			last := grants[len(grants)-1]
			first.breaches = append(first.breaches, conflict(TokenGap, grants[0], last))
		}
	case legal == bad:
		kind := checker.LeaseOverlap
		if bad {
			kind = first.breaches[0].kind
		}
		return &checker.DisagreeError{Kind: kind, Resource: h.locks.in[h.ops[ops[0]].lock], Direct: bad, Linearizable: !legal}
	default:
		r.Confirmed++
	}
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
	ops, writes := h.split(ops)
	if legal, why := h.accepted(writes, most); !legal || why != "" {
		return legal, why
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
	steps, share := 0, sharing{}
	if len(ops) > 0 {
		share = h.sharing[h.ops[ops[0]].lock]
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{owner: none, now: math.MinInt64}} },
		Step: func(st, in, _ any) []any {
			s, i := st.(state), in.(input)
			if steps++; steps > maxPorcupineSteps {
				return nil
			}
			var all []any
			if i.optional {
				all = append(all, s)
			}
			if !s.allows(i) {
				return all
			}
			next := []state{s}
			if !share.none() {
				next = i.applyShared(s, &o, share)
			} else if after, legal := i.apply(s, &o); legal {
				next[0] = after
			} else {
				next = nil
			}
			for _, after := range next {
				if !i.optional {
					after = after.seen(i)
				}
				all = append(all, after)
			}
			return all
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
	// token is the lowest that the last grant can have had: its own, if it is known, or one more than that before.
	token int64
	// grants says whether any grant had a known token, and so token means something; told, whether that of the hold is
	// known; past, that it is higher than any number.
	grants, told, past bool
	// end is when the lease of the owner ends, unless it is endless.
	end     int64
	endless bool
	// holders are those who hold a lock that several can hold.
	holders string
	// now is the latest end of a lease that another hold had to wait for: what happens after it happens no earlier.
	now int64
	// successes counts, two bytes each, the operations that succeeded of the processes that had one after one of unknown
	// outcome.
	successes string
}

// input is an operation.
type input struct {
	fn      function
	mode    mode
	process int32
	// token is nil where the model has none, or it is not known.
	token *int64
	// optional: it may not have happened.
	optional bool
	// slot is the place of the process in state.successes, none if it has none. That means that the operation can happen at any
	// time between its call and its return; otherwise only while the process had so many successes.
	slot      int
	successes uint16
	// until is when a lease ends that counts from this operation, and returned the time of its return.
	until, returned int64
	endless         bool // the lease ends after all times that can be written
}

// apply is what becomes of the lock, and whether it can.
func (i input) apply(s state, o *Options) (state, bool) {
	m := o.Model
	if o.leased() && i.fn == acquire && s.owner != none && !s.endless {
		// The lock can be had as soon as the lease is over, whoever owns it.
		s.owner, s.now = none, max(s.now, s.end)
	}
	if i.returned < s.now {
		return s, false
	}
	mine := s.owner == i.process || m == Mutex
	switch {
	case i.fn == acquire && s.owner == none:
		s.owner, s.depth, s.end, s.endless = i.process, 1, i.until, i.endless
		return i.newToken(s)
	case i.fn == acquire:
		s.depth++
		next, legal := i.sameToken(s)
		return next, legal && mine && m.reentrant()
	case s.owner == none || !mine:
		return s, false
	case i.fn == extend:
		s.end, s.endless = i.until, i.endless
	default:
		if s.depth--; s.depth == 0 {
			s.owner = none
		}
	}
	return s, true
}

// newToken gives a new hold its token.
func (i input) newToken(s state) (state, bool) {
	switch {
	case i.token != nil:
		legal := !s.grants || !s.past && *i.token > s.token
		s.token, s.grants, s.told = *i.token, true, true
		return s, legal
	case s.grants && s.token == math.MaxInt64:
		s.past = true
	case s.grants:
		s.token++
	}
	s.told = false
	return s, true
}

// sameToken gives an acquire inside of a hold the token of the hold.
func (i input) sameToken(s state) (state, bool) {
	switch {
	case i.token == nil:
		return s, true
	case s.told:
		return s, *i.token == s.token
	}
	legal := !s.grants || !s.past && *i.token >= s.token
	s.token, s.grants, s.told = *i.token, true, true
	return s, legal
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

// allows reports whether it is neither too early nor too late for the operation to happen, as its process goes on.
func (s state) allows(i input) bool { return i.slot == none || s.had(i.slot) == i.successes }

// inputs gives porcupine the operations as they were recorded. One of unknown outcome can take effect until the next
// success of its process, which the slots see to; where locks have no owners, at any time. Where the operations of a process
// run into each other, the slots keep them in their order.
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
			case op.outcome == ok && (uncertain[op.process] || h.blurred) && !has:
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
		in := input{fn: op.fn, mode: op.mode, process: op.process, optional: op.outcome == unknown, slot: none,
			returned: math.MaxInt64}
		if o.Model.fenced() && op.fn == acquire && !in.optional && op.token != unknownToken {
			in.token = &op.token
		}
		if o.leased() {
			in.until = h.times[op.call] + op.lease
			in.endless = in.until < h.times[op.call]
			if op.outcome == ok {
				in.returned = h.times[op.ret]
			}
		}
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
