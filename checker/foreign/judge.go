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
	call     int   // of the operation whose return is from
	op       int32 // that operation
	basis    int32 // the acquire or extend from which the lease counts; op for locks without
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
	basis         int32 // of the hold that first began, if it began one
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

// judge gives the report.
func (h *recording) judge(o Options) (*Report, error) {
	r := &Report{
		Format: h.format, Model: o.Model, Lease: o.Lease, Lines: h.lines,
		Operations: len(h.ops), Locks: len(h.locks.in), Processes: len(h.processes.in), Nemesis: h.nemesis,
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
		bad := r.Broken
		h.judgeLock(r, ops, o)
		if err := h.confirm(r, ops, o, r.Broken > bad, &given); err != nil {
			return nil, err
		}
	}
	if r.Grants == 0 {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if r.Processes < 2 {
		r.Notes = append(r.Notes, "there is only one process, so that nobody contended")
	}
	return r, nil
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

// judgeLock judges the operations on one lock.
func (h *recording) judgeLock(r *Report, ops []int32, o Options) {
	if o.Model == Mutex {
		h.addFaults(r, h.sweep(ops), 0)
		return
	}
	c := h.claim(ops, o)
	first, count := overlaps(c)
	if first != nil {
		// What the processes did all by themselves is of the same kind, and counted with it.
		c.faults = slices.Insert(c.faults, 0, *first)
		count--
	}
	h.addFaults(r, c.faults, count)
	if o.Model == Fenced {
		h.addFaults(r, h.tokens(ops), 0)
	}
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
		case Reentrant:
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
				first, firstAt = &fault{checker.LeaseOverlap, c.holds[longest].op, b.op, c.holds[longest].basis}, b.from
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
			first, firstAt = &fault{checker.LeaseOverlap, c.holds[i].op, t.op, c.holds[i].basis}, t.to
		}
	}
	return first, count
}

// addFaults reports the first of each kind. more is how many overlaps there are beside the listed ones.
func (h *recording) addFaults(r *Report, faults []fault, more int) {
	counts := map[checker.Kind]int{checker.LeaseOverlap: more}
	var first []fault
	for _, f := range faults {
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
	if m == Fenced && o.fn == acquire && o.outcome == ok {
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
	case f.kind == NotHeld && r.Model == Mutex:
		return fmt.Sprintf("%s %s %s, which had been free since %s released it.", by, did, lock, other)
	case f.kind == NotHeld:
		return fmt.Sprintf("%s %s %s, which it did not hold since it had released it.", by, did, lock)
	case first.process == second.process:
		return fmt.Sprintf("%s %s %s again while it held it.", by, did, lock)
	case r.Model == Lease:
		basis := &h.ops[f.basis]
		return fmt.Sprintf("%s %s %s at %v while %s held it, by its %s called at %v on line %d.", by, did, lock,
			time.Duration(h.times[second.ret]), other, basis.fn, time.Duration(h.times[basis.call]), basis.callLine)
	}
	return fmt.Sprintf("%s %s %s while %s held it.", by, did, lock, other)
}

// tokens compares the tokens of the grants in the order in which they were given.
func (h *recording) tokens(ops []int32) []fault {
	var grants []int32
	for _, i := range ops {
		if h.ops[i].fn == acquire && h.ops[i].outcome == ok {
			grants = append(grants, i)
		}
	}
	slices.SortFunc(grants, func(a, b int32) int { return cmp.Compare(h.ops[a].ret, h.ops[b].ret) })
	var faults []fault
	var first map[int64]int32
	highest := int32(none)
	for n, i := range grants {
		if highest == none || h.ops[i].token > h.ops[highest].token {
			highest = i
			if first != nil {
				first[h.ops[i].token] = i
			}
			continue
		}
		if first == nil {
			first = make(map[int64]int32, n)
			for _, j := range grants[:n] {
				first[h.ops[j].token] = j
			}
		}
		earlier, repeated := first[h.ops[i].token]
		switch {
		case repeated:
			faults = append(faults, fault{checker.TokenRepeated, earlier, i, none})
		default:
			faults = append(faults, fault{checker.TokenRegressed, highest, i, none})
			first[h.ops[i].token] = i
		}
	}
	return faults
}
