package foreign

import (
	"fmt"
	"slices"

	"redlocksim/checker"
)

// addBreaches reports the first of each kind.
func (h *recording) addBreaches(r *Report, ops []int32, c judgement) {
	counts := map[checker.Kind]int{checker.LeaseOverlap: c.more}
	var first []breach
	for _, f := range c.breaches {
		if !slices.ContainsFunc(first, func(g breach) bool { return g.kind == f.kind }) {
			first = append(first, f)
		}
		counts[f.kind]++
	}
	h.suspectSemaphore(r, ops, counts[checker.LeaseOverlap])
	for _, f := range first {
		finding := Finding{Kind: f.kind, Lock: h.locks.in[h.ops[f.second].lock], Count: counts[f.kind], Text: h.tell(r, f)}
		shown := append([]int32{f.first}, f.others[:min(len(f.others), maxHolders)]...)
		for _, op := range append(shown, f.second) {
			if op != none {
				finding.Operations = append(finding.Operations, h.show(op, r.Model))
			}
		}
		r.add(finding)
	}
}

// suspectSemaphore notes, once, that a lock may be meant for several holders: most grants came while another held it.
func (h *recording) suspectSemaphore(r *Report, ops []int32, overlaps int) {
	if overlaps < 2 || h.suspected || !slices.Contains(sharable, r.Model) || !h.sharing[h.ops[ops[0]].lock].none() {
		return
	}
	grants := 0
	for _, i := range ops {
		if o := &h.ops[i]; o.fn == acquire && o.outcome == ok {
			grants++
		}
	}
	if 2*overlaps > grants {
		h.suspected = true
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d grants came while another held %s; if it is a semaphore, "+
			"say how many may: --semaphore NAME=N", overlaps, grants, h.lockOf(&h.ops[ops[0]])))
	}
}

// maxHolders bounds how many of those who hold a semaphore together are shown.
const maxHolders = 10

func (h *recording) show(op int32, m Model) Operation {
	o := &h.ops[op]
	shown := Operation{File: h.fileOf(o.process), Process: h.processes.in[o.process], Func: o.fn.String(), Call: int(o.callLine), Return: int(o.retLine),
		Outcome: o.outcome.String()}
	index := func(i int64) *int64 {
		if i == noIndex {
			return nil
		}
		return &i
	}
	shown.CallIndex, shown.ReturnIndex = index(o.callIndex), index(o.retIndex)
	if m.fenced() && (o.hasToken() || o.fn == write && o.outcome == ok) {
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
	case f.kind == TokenGap && second.hasToken():
		return fmt.Sprintf("%s was granted %s with token %d, after %s with %d: no number is left for a grant between them whose token is not known.",
			by, lock, second.token, other, first.token)
	case f.kind == TokenGap:
		return fmt.Sprintf("%s %s %s, which leaves no number for a grant whose token is not known, after that of %s with %d.",
			by, did, lock, other, first.token)
	case f.kind == NotHeld && r.Model == Mutex:
		return fmt.Sprintf("%s %s %s, which had been free since %s released it.", by, did, lock, other)
	case f.kind == NotHeld:
		return fmt.Sprintf("%s %s %s, which it did not hold since it had released it.", by, did, lock)
	case first.process == second.process:
		return fmt.Sprintf("%s %s %s again while it held it.", by, did, lock)
	case f.basis != none && h.ops[f.basis].lease != 0:
		source := &h.ops[f.basis]
		how := "by"
		if f.proof != none {
			source, how = &h.ops[f.proof], "as is shown by"
		}
		return fmt.Sprintf("%s %s %s at %s while %s held it, %s its %s called at %s on %s.", by, did, lock,
			h.when(second.ret), other, how, source.fn, h.when(source.call), h.called(source))
	}
	return fmt.Sprintf("%s %s %s while %s held it.", by, did, lock, other)
}
