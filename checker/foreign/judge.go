package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"redlocksim/checker"
)

// hold is a stretch in which a process certainly held the lock: its minimal hold, from the return of the operation that
// began it to the call of the one that ended it, or to the end of the lease.
//
// from and to are places between the events: event number i is at 2i+1, and 2i is just before it, where leases end that
// end between it and the event before, or at the very time of it.
type hold struct {
	from, to int
	op       int32 // whose return is from
	basis    int32 // the acquire or extend from which the lease counts; op for locks without
	proof    int32 // the success that shows that the hold went on beyond its lease; none if it did not
}

// touch is an operation inside of which the process held the lock at some instant.
type touch struct {
	from, to int
	op       int32
}

// fault is a rule that a process breaks whatever the others do.
type fault struct {
	kind          checker.Kind
	first, second int32 // the operations that conflict; first is none if there is no such
	// basis and proof are those of the hold that first began, if it is of a lock with leases.
	basis, proof int32
}

const none = -1

// claims are what the processes did on a lock.
type claims struct {
	holds   []hold
	touches []touch
	faults  []fault
}

func at(event int32) int {
	if event == noEvent {
		return never
	}
	return 2*int(event) + 1
}

// charges is what the operations on a lock break.
type charges struct {
	// faults has, of the overlaps of holds, the first only; more is how many others there are.
	faults []fault
	more   int
	// undecided says why it is not known whether there is another fault; empty if it is.
	undecided string
}

// opinions are the two ways in which the operations on a lock are judged. Both begin with the operations as they were
// recorded, and have nothing else in common.
type opinions struct {
	first  func(h *recording, ops []int32, o Options) charges
	second func(h *recording, ops []int32, o Options) (legal bool, undecided string)
}

var bothOpinions = opinions{(*recording).intervals, (*recording).linearizable}

// judge gives the report.
func (h *recording) judge(o Options, by opinions) (*Report, error) {
	r := &Report{
		Format: h.format, Model: o.Model, Lease: o.Lease, Lines: h.lines,
		Operations: len(h.ops) - h.dropped, Locks: len(h.locks.in), Processes: h.actors(), Nemesis: h.nemesis,
		LeftOut: h.leftOut, Moved: h.moved,
	}
	for i := range h.ops {
		op := &h.ops[i]
		if op.outcome == unknown {
			r.Unknown++
		}
		if op.outcome == ok && op.fn == acquire {
			r.Grants++
		}
	}
	given := 0
	for _, ops := range h.byLock() {
		c := by.first(h, ops, o)
		if err := h.confirm(r, ops, o, by.second, &c, &given); err != nil {
			return nil, err
		}
		h.addFaults(r, c)
	}
	if r.Grants == 0 {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if r.Processes < 2 {
		r.Notes = append(r.Notes, "there is only one process, so that nobody contended")
	}
	return r, nil
}

// actors counts the processes that called an operation which is judged.
func (h *recording) actors() int {
	acts, count := make([]bool, len(h.processes.in)), 0
	for i := range h.ops {
		if p := h.ops[i].process; !acts[p] {
			acts[p] = true
			count++
		}
	}
	return count
}

// byLock gives the operations on each lock, in the order of their calls.
func (h *recording) byLock() [][]int32 {
	sizes := make([]int, len(h.locks.in))
	for i := range h.ops {
		if lock := h.ops[i].lock; lock != unnamed {
			sizes[lock]++
		}
	}
	all := make([]int32, len(h.ops))
	groups := make([][]int32, len(sizes))
	for lock, size := range sizes {
		groups[lock], all = all[:0:size], all[size:]
	}
	for i := range h.ops {
		if lock := h.ops[i].lock; lock != unnamed {
			groups[lock] = append(groups[lock], int32(i))
		}
	}
	return groups
}

// intervals judges the operations on one lock by the holds that they show.
func (h *recording) intervals(ops []int32, o Options) charges {
	if o.Model == Mutex {
		return charges{faults: h.sweep(ops)}
	}
	c := h.claim(ops, o)
	all := charges{faults: c.faults}
	first, count := overlaps(c)
	if first != nil {
		// What the processes did all by themselves is of the same kind, and counted with it.
		all.faults, all.more = slices.Insert(c.faults, 0, *first), count-1
	}
	if o.Model == Fenced {
		all.faults = append(all.faults, h.rising(ops)...)
	}
	if o.Model.fenced() && len(all.faults) == 0 {
		all.faults, all.undecided = h.tokens(ops, o.Model)
	}
	return all
}

// claim finds the holds of all processes. Operations of a process stay in the order of their calls.
func (h *recording) claim(ops []int32, o Options) *claims {
	c := &claims{}
	byProcess := slices.Clone(ops)
	slices.SortStableFunc(byProcess, func(a, b int32) int { return cmp.Compare(h.ops[a].process, h.ops[b].process) })
	for len(byProcess) > 0 {
		n := 1
		for n < len(byProcess) && h.ops[byProcess[n]].process == h.ops[byProcess[0]].process {
			n++
		}
		switch o.Model {
		case Reentrant, ReentrantFenced:
			h.reentrant(c, byProcess[:n])
		case Lease:
			h.lease(c, byProcess[:n], o.Lease)
		default:
			h.owner(c, byProcess[:n])
		}
		byProcess = byProcess[n:]
	}
	slices.SortFunc(c.holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(c.touches, func(a, b touch) int { return cmp.Compare(a.to, b.to) })
	slices.SortStableFunc(c.faults, func(a, b fault) int { return cmp.Compare(h.ops[a.second].ret, h.ops[b.second].ret) })
	return c
}

// overlaps returns how many holds begin, and touches lie, inside another hold, and the first to be complete.
//
// Sorted holds must be disjoint. A touch needs an instant outside all of them; between two that are disjoint there is
// always one, so it has none only if a single hold contains it.
func overlaps(c *claims) (*fault, int) {
	var first *fault
	firstAt, count, longest := never, 0, none
	for i := range c.holds {
		b := &c.holds[i]
		if longest != none && c.holds[longest].to > b.from {
			count++
			if first == nil {
				first, firstAt = conflict(&c.holds[longest], b.op), b.from
			}
		}
		if longest == none || b.to > c.holds[longest].to {
			longest = i
		}
	}
	for _, t := range c.touches {
		i := sort.Search(len(c.holds), func(i int) bool { return c.holds[i].from > t.from }) - 1
		if i < 0 || c.holds[i].to < t.to {
			continue
		}
		count++
		if t.to < firstAt {
			first, firstAt = conflict(&c.holds[i], t.op), t.to
		}
	}
	return first, count
}

// conflict is that of a hold with an operation that began another, or needed the lock, inside of it.
func conflict(held *hold, second int32) *fault {
	return &fault{checker.LeaseOverlap, held.op, second, held.basis, held.proof}
}

// addFaults reports the first of each kind.
func (h *recording) addFaults(r *Report, c charges) {
	counts := map[checker.Kind]int{checker.LeaseOverlap: c.more}
	var first []fault
	for _, f := range c.faults {
		if !slices.ContainsFunc(first, func(g fault) bool { return g.kind == f.kind }) {
			first = append(first, f)
		}
		counts[f.kind]++
	}
	for _, f := range first {
		finding := Finding{Kind: f.kind, Lock: h.locks.in[h.ops[f.second].lock], Count: counts[f.kind], Text: h.tell(r, f)}
		for _, op := range []int32{f.first, f.second} {
			if op != none {
				finding.Operations = append(finding.Operations, h.show(op, r.Model))
			}
		}
		r.add(finding)
	}
}

func (h *recording) show(op int32, m Model) Operation {
	o := &h.ops[op]
	shown := Operation{Process: h.processes.in[o.process], Func: o.fn.String(), Call: int(o.callLine), Return: int(o.retLine),
		Outcome: o.outcome.String()}
	index := func(i int64) *int64 {
		if i == noIndex {
			return nil
		}
		return &i
	}
	shown.CallIndex, shown.ReturnIndex = index(o.callIndex), index(o.retIndex)
	if m.fenced() && o.hasToken() {
		token := o.token
		shown.Token = &token
	}
	return shown
}

// tell says in one sentence what is wrong.
func (h *recording) tell(r *Report, f fault) string {
	second := &h.ops[f.second]
	lock := "the lock"
	if name := h.locks.in[second.lock]; name != "" {
		lock = fmt.Sprintf("lock %q", name)
	}
	by := "process " + h.processes.in[second.process]
	did := [...]string{"acquired", "extended", "released"}[second.fn]
	if f.first == none {
		return fmt.Sprintf("%s %s %s, which nobody had acquired before.", by, did, lock)
	}
	first := &h.ops[f.first]
	other := "process " + h.processes.in[first.process]
	switch {
	case f.kind == checker.TokenRepeated:
		return fmt.Sprintf("%s was granted %s with token %d, which %s had been given before.", by, lock, second.token, other)
	case f.kind == checker.TokenRegressed:
		return fmt.Sprintf("%s was granted %s with token %d, after %s with the higher token %d.", by, lock, second.token, other, first.token)
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
	case r.Model == Lease:
		source := &h.ops[f.basis]
		how := "by"
		if f.proof != none {
			source, how = &h.ops[f.proof], "as is shown by"
		}
		return fmt.Sprintf("%s %s %s at %v while %s held it, %s its %s called at %v on %s.", by, did, lock,
			time.Duration(h.times[second.ret]), other, how, source.fn, time.Duration(h.times[source.call]), onLine(source.callLine, source.callIndex))
	}
	return fmt.Sprintf("%s %s %s while %s held it.", by, did, lock, other)
}
