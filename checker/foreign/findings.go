package foreign

import (
	"fmt"
	"slices"

	"redlocksim/checker"
)

// What is found here beside what the checker itself finds.
const (
	// NotHeld is the finding of a release or extend that succeeded though the lock, as far as anybody can know, was not
	// held, or not by this process.
	NotHeld checker.Kind = "not-held"
	// TokenChanged is the finding of a holder that acquires again and gets another token than that of its hold.
	TokenChanged checker.Kind = "token-changed"
)

// breach is a rule of the lock that an operation breaks.
type breach struct {
	kind          checker.Kind
	count         int
	first, second int32 // the operations that conflict; first is none if there is no such
	// held is the hold that first began, and others what began those of the others who held a semaphore.
	held   *hold
	others []int32
}

func conflict(kind checker.Kind, first, second int32) breach {
	return breach{kind: kind, count: 1, first: first, second: second}
}

// addBreaches reports the first of each kind.
func (h *recording) addBreaches(r *Report, all []breach) {
	var first []breach
	for _, f := range all {
		if i := slices.IndexFunc(first, func(g breach) bool { return g.kind == f.kind }); i >= 0 {
			first[i].count += f.count
		} else {
			first = append(first, f)
		}
	}
	for _, f := range first {
		finding := Finding{Kind: f.kind, Lock: h.locks.in[h.ops[f.second].lock], Count: f.count, Text: h.tell(r, f)}
		shown := append([]int32{f.first}, f.others[:min(len(f.others), maxHolders)]...)
		for _, op := range append(shown, f.second) {
			if op != none {
				finding.Operations = append(finding.Operations, h.show(op))
			}
		}
		r.add(finding)
		if f.kind == checker.LeaseOverlap {
			h.suspectSemaphore(r, &h.ops[f.second], f.count)
		}
	}
}

// suspectSemaphore notes, once, that a lock may be meant for several holders: most grants came while another held it.
func (h *recording) suspectSemaphore(r *Report, of *operation, overlaps int) {
	if overlaps < 2 || h.suspected || !r.Model.isPlain() || !h.sharing[of.lock].none() {
		return
	}
	grants := 0
	for i := range h.ops {
		if o := &h.ops[i]; o.lock == of.lock && o.fn == acquire && o.outcome == ok {
			grants++
		}
	}
	if h.suspected = 2*overlaps > grants; h.suspected {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d grants came while another held %s; if it is a semaphore, "+
			"say how many may: --semaphore NAME=N", overlaps, grants, h.lockOf(of)))
	}
}

// maxHolders bounds how many of those who hold a semaphore together are shown.
const maxHolders = 10

func (h *recording) show(op int32) Operation {
	o := &h.ops[op]
	l := &h.lines[o.call]
	shown := Operation{Process: h.processes.in[o.process], Func: o.fn.String(), Outcome: o.outcome.String(), Call: int(l.line),
		CallIndex: indexOf(l.index), ReturnIndex: indexOf(o.retIndex)}
	if h.several() {
		shown.File = h.files[l.file].Name
	}
	if line := int(o.returned.line); line > 0 {
		shown.Return = &line
	}
	if h.o.Model.fenced() && (o.hasToken() || o.fn == write && o.outcome == ok) {
		token := o.token
		shown.Token = &token
	}
	return shown
}

// lockOf is how a sentence names the lock of an operation.
func (h *recording) lockOf(o *operation) string {
	if name := h.locks.in[o.lock]; name != "" {
		return fmt.Sprintf("lock %q", name)
	}
	return "the lock"
}

// tell says in one sentence what is wrong.
func (h *recording) tell(r *Report, f breach) string {
	second := &h.ops[f.second]
	lock := h.lockOf(second)
	by := "process " + h.processes.in[second.process]
	did := [...]string{"acquired", "extended", "released", "wrote under"}[second.fn]
	if second.mode != unsaid {
		lock += " (" + second.mode.String() + ")"
	}
	if f.first == none {
		return fmt.Sprintf("%s %s %s, which nobody had acquired before.", by, did, lock)
	}
	first := &h.ops[f.first]
	other := "process " + h.processes.in[first.process]
	switch {
	case len(f.others) > 0:
		for _, o := range f.others[:min(len(f.others), maxHolders)] {
			other += ", " + h.processes.in[h.ops[o].process]
		}
		return fmt.Sprintf("%s %s %s while all of its permits were held, by %s.", by, did, lock, other)
	case f.kind == checker.StaleWrite:
		return fmt.Sprintf(
			"a write of %s under %s was accepted with token %d, after one of %s with the higher token %d.", by, lock, second.token, other, first.token)
	case f.kind == checker.TokenRepeated:
		return fmt.Sprintf("%s was granted %s with token %d, which %s had been given before.", by, lock, second.token, other)
	case f.kind == checker.TokenRegressed:
		return fmt.Sprintf("%s was granted %s with token %d, after %s with the higher token %d.",
			by, lock, second.token, other, first.token)
	case f.kind == TokenChanged:
		return fmt.Sprintf("%s %s %s again with token %d, while it held it with token %d.", by, did, lock, second.token, first.token)
	case f.kind == NotHeld && r.Model == Mutex:
		return fmt.Sprintf("%s %s %s, which had been free since %s released it.", by, did, lock, other)
	case f.kind == NotHeld:
		return fmt.Sprintf("%s %s %s, which it did not hold since it had released it.", by, did, lock)
	case first.process == second.process:
		return fmt.Sprintf("%s %s %s again while it held it.", by, did, lock)
	case f.held != nil && f.held.basis != none && h.ops[f.held.basis].lease != 0:
		source, how := &h.ops[f.held.basis], "by"
		if f.held.proof != none {
			source, how = &h.ops[f.held.proof], "as is shown by"
		}
		return fmt.Sprintf("%s %s %s at %s while %s held it, %s its %s called at %s on %s.", by, did, lock,
			h.when(second.ret), other, how, source.fn, h.when(source.call), h.called(source))
	}
	return fmt.Sprintf("%s %s %s while %s held it.", by, did, lock, other)
}
