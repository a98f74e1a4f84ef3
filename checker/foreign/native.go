package foreign

import (
	"errors"
	"fmt"
	"io"

	"redlocksim/checker"
	"redlocksim/history"
)

// checkNative judges a history of this project, by the windows that are recorded in it.
func checkNative(in io.Reader, o Options) (*Report, error) {
	h, err := readEvents(in)
	if err != nil {
		return nil, nativeError(err)
	}
	found, err := checker.Check(h, checker.Options{
		Reentrant: o.Model == Reentrant, MinGrants: -1, MinClients: -1, MaxOperations: o.MaxPorcupine,
	})
	if err != nil {
		return nil, nativeError(err)
	}
	r := &Report{Format: Native, Model: o.Model, Lines: len(h), Locks: len(found.Resources), Grants: found.Grants}
	calls := callsOf(h, r)
	for _, u := range found.Unchecked {
		if !u.Decided {
			return nil, &InputError{Line: len(h), Err: fmt.Errorf("%w: %s on %q: %s", ErrUndecided, u.Kind, u.Resource, u.Why)}
		}
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
			r.add(nativeFinding(h, calls, &f))
		} else {
			r.Notes = append(r.Notes, fmt.Sprintf("%s (%d times on %q): %s", f.Kind, f.Count, f.Resource, f.Text))
		}
	}
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

// callsOf finds the call of each operation, and counts.
func callsOf(h history.History, r *Report) map[int]int {
	calls := map[int]int{}
	processes := map[string]bool{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Kind == history.Call:
			calls[e.Op] = i
			processes[e.Process] = true
			r.Operations++
			r.Unknown++
		case e.Kind == history.Return && e.Outcome != history.Unknown:
			r.Unknown--
		}
	}
	r.Processes = len(processes)
	return calls
}

// nativeFinding shows the operations that the two windows of a finding rest on, or, where it has no windows, its first
// and last event.
func nativeFinding(h history.History, calls map[int]int, f *checker.Finding) Finding {
	shown := Finding{Kind: f.Kind, Lock: f.Resource, Count: f.Count, Text: f.Text}
	add := func(seq int) {
		e := &h[seq-1]
		op := Operation{Process: e.Process, Func: string(e.Func), Call: seq, Outcome: string(e.Outcome)}
		if op.Func == "" {
			op.Func = string(e.Kind)
		}
		if call, ok := calls[e.Op]; ok && e.Op != 0 && call+1 < seq {
			op.Call, op.Return = call+1, seq
			op.Process = h[call].Process
		}
		shown.Operations = append(shown.Operations, op)
	}
	for _, w := range f.Windows {
		add(w.FromSeq)
	}
	if len(f.Windows) == 1 && f.ToSeq > 0 && f.ToSeq != f.Windows[0].FromSeq {
		add(f.ToSeq)
	}
	return shown
}
