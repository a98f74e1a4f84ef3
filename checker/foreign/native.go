package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"redlocksim/checker"
	"redlocksim/sim/history"
)

// checkNative judges a history of this project, by the windows that are recorded in it.
func checkNative(in io.Reader, o Options) (*Report, error) {
	l, err := checker.ReadLog(in)
	if err != nil {
		return nil, nativeError(err)
	}
	found, err := l.Check(checker.Options{
		Reentrant: o.Model == Reentrant, Semaphores: o.Semaphores, MinGrants: -1, MinClients: -1,
	})
	if err != nil {
		return nil, nativeError(err)
	}
	for _, s := range o.Semaphores {
		if !slices.ContainsFunc(found.Resources, func(r checker.Resource) bool { return s.Has(r.Name) }) {
			return nil, fmt.Errorf("%w: the history has no semaphore %q", ErrOptions, s.Name)
		}
	}
	r := &Report{Findings: []Finding{}, Notes: []string{},
		Counts: &Counts{Format: Native, Model: o.Model, Lines: l.Len(), Locks: len(found.Resources), Grants: found.Grants}}
	calls := r.count(l)
	for _, u := range found.Unchecked {
		r.Unconfirmed = u.Why
	}
	if r.Unconfirmed == "" {
		r.Confirmed = r.Locks
	}
	for i := range found.Findings {
		f := &found.Findings[i]
		if f.Kind.Violation() {
			r.add(Finding{Kind: f.Kind, Lock: f.Resource, Count: f.Count, Text: f.Text, Operations: operationsOf(l, f, calls)})
		} else {
			r.Notes = append(r.Notes, fmt.Sprintf("%s, %d times on %q: %s", f.Kind.Says(), f.Count, f.Resource, f.Text))
		}
	}
	isContended := slices.ContainsFunc(found.Resources, func(m checker.Resource) bool { return m.Clients > 1 })
	if r.Grants == 0 {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if !isContended {
		r.Notes = append(r.Notes, "no two processes asked for the same lock, so that nobody contended")
	}
	return r, nil
}

// nativeError is an error with the line in it alone.
func nativeError(err error) error {
	if invalid := (*history.InvalidError)(nil); errors.As(err, &invalid) {
		return &InputError{Line: invalid.Line, Err: invalid.Err}
	}
	return err
}

// count counts operations and processes, and returns the places of calls by their operations.
func (r *Report) count(l *checker.Log) map[int]int {
	processes, calls := map[string]bool{}, map[int]int{}
	for e := range l.Events() {
		switch {
		case e.Kind == history.Call:
			processes[e.Process], calls[e.Op] = true, e.Seq
			r.Operations++
			r.Unknown++
		case e.Kind == history.Return && e.Outcome != history.Unknown:
			r.Unknown--
		}
	}
	r.Processes = len(processes)
	return calls
}

// operationsOf are the operations that the two windows of a finding rest on, or, where there are no windows, its first and
// last event.
func operationsOf(l *checker.Log, f *checker.Finding, calls map[int]int) []Operation {
	all := []Operation{}
	var seqs []int
	for _, w := range f.Windows {
		seqs = append(seqs, w.FromSeq)
	}
	if len(seqs) == 1 && f.ToSeq > 0 && f.ToSeq != seqs[0] {
		seqs = append(seqs, f.ToSeq)
	}
	for _, seq := range seqs {
		e := l.Event(seq)
		op := Operation{Process: e.Process, Func: cmp.Or(string(e.Func), string(e.Kind)), Call: seq, Outcome: string(e.Outcome)}
		if call := calls[e.Op]; call > 0 && call < seq {
			op.Call, op.Return, op.Process = call, &seq, l.Event(call).Process
		}
		all = append(all, op)
	}
	return all
}
