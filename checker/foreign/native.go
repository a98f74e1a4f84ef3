package foreign

import (
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
	r := &Report{Format: Native, Model: o.Model, Lines: l.Len(), Locks: len(found.Resources), Grants: found.Grants}
	r.count(l)
	for _, u := range found.Unchecked {
		r.Unconfirmed = u.Why
	}
	if r.Unconfirmed == "" {
		r.Confirmed = r.Locks
	}
	contended := false
	for _, m := range found.Resources {
		contended = contended || m.Clients > 1
	}
	for _, f := range found.Findings {
		if f.Kind.Violation() {
			r.add(Finding{Kind: f.Kind, Lock: f.Resource, Count: f.Count, Text: f.Text})
		} else {
			r.Notes = append(r.Notes, fmt.Sprintf("%s, %d times on %q: %s", f.Kind.Says(), f.Count, f.Resource, f.Text))
		}
	}
	r.show(l, found.Findings)
	if r.Grants == 0 {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if !contended {
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

func (r *Report) count(l *checker.Log) {
	processes := map[string]bool{}
	for e := range l.Events() {
		switch {
		case e.Kind == history.Call:
			processes[e.Process] = true
			r.Operations++
			r.Unknown++
		case e.Kind == history.Return && e.Outcome != history.Unknown:
			r.Unknown--
		}
	}
	r.Processes = len(processes)
}

// show adds to the listed findings the operations that their two windows rest on, or, where there are no windows, their
// first and last event.
func (r *Report) show(l *checker.Log, found []checker.Finding) {
	var seqs [][]int // of the listed findings
	calls := map[int]*history.Event{}
	for _, f := range found {
		if !f.Kind.Violation() || len(seqs) == len(r.Findings) {
			continue
		}
		var of []int
		for _, w := range f.Windows {
			of = append(of, w.FromSeq)
		}
		if len(f.Windows) == 1 && f.ToSeq > 0 && f.ToSeq != f.Windows[0].FromSeq {
			of = append(of, f.ToSeq)
		}
		for _, seq := range of {
			calls[l.Event(seq).Op] = nil
		}
		seqs = append(seqs, of)
	}
	if len(seqs) == 0 {
		return
	}
	delete(calls, 0)
	for e := range l.Events() {
		if _, wanted := calls[e.Op]; wanted && e.Kind == history.Call {
			call := *e
			calls[e.Op] = &call
		}
	}
	for i, of := range seqs {
		for _, seq := range of {
			e := l.Event(seq)
			op := Operation{Process: e.Process, Func: string(e.Func), Call: seq, Outcome: string(e.Outcome)}
			if op.Func == "" {
				op.Func = string(e.Kind)
			}
			if call := calls[e.Op]; call != nil && call.Seq < seq {
				op.Call, op.Return, op.Process = call.Seq, seq, call.Process
			}
			r.Findings[i].Operations = append(r.Findings[i].Operations, op)
		}
	}
}
