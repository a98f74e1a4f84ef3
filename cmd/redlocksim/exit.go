package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/sim/guest"
)

const (
	exitOK         = exitcode.OK
	exitSafety     = exitcode.Safety
	exitUsage      = exitcode.Usage
	exitLiveness   = exitcode.Liveness
	exitRepeat     = exitcode.NotRepeated
	exitInternal   = exitcode.Internal
	exitNotTested  = exitcode.NotTested
	exitNotWritten = exitcode.NotWritten
)

// failure is an error with the exit code it stands for.
type failure struct {
	code exitcode.Code
	err  error // nil: everything has been said
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// failureOf is what an error of a command stands for; nil for none.
func failureOf(err error) *failure {
	f := (*failure)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		if f.err != nil { // with all that was said around it
			f = &failure{f.code, err}
		}
		return f
	default:
		// Everything that cobra itself finds is a mistake in the command line.
		return &failure{exitUsage, fmt.Errorf("%w (see redlocksim --help)", err)}
	}
}

// wrap gives an error, that of a run or of a report that was written, its exit code; nil for none. One that has a code keeps
// it.
func wrap(err error) error {
	switch {
	case err == nil || errors.As(err, new(*failure)):
		return err
	case errors.As(err, new(*outfile.WriteError)):
		return &failure{exitNotWritten, err}
	case errors.Is(err, verdict.ErrNotRepeated):
		return &failure{exitRepeat, err}
	case errors.Is(err, scenarios.ErrTooLong), errors.Is(err, guest.ErrFailed):
		return &failure{exitUsage, err}
	}
	return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
}

// searchError gives an error of a search its exit code.
func searchError(err error) error {
	switch {
	case errors.As(err, new(*failure)):
		return err
	case errors.As(err, new(*outfile.Refusal)), errors.As(err, new(*outfile.WriteError)):
		return cannotWrite("--dir", err)
	case errors.Is(err, search.ErrDir):
		return &failure{exitUsage, err}
	}
	return wrap(err)
}

// verdictCode is the exit code for the problems of some runs.
func verdictCode(results ...*verdict.Result) exitcode.Code {
	code := exitOK
	for _, r := range results {
		code = exitcode.Worst(code, codeOf(r), failedCode(r.Err))
	}
	return code
}

// failedCode is the exit code for runs that failed with this error; nil if none did.
func failedCode(err error) exitcode.Code {
	if f := failureOf(wrap(err)); f != nil {
		return f.code
	}
	return exitOK
}

// findingsCode is the code of a search with findings. What it had no time to shrink counts as a violation.
func findingsCode(found search.Findings, unshrunk int) exitcode.Code {
	if unshrunk == 0 && len(found) > 0 && !slices.ContainsFunc(found, func(f search.Finding) bool { return !f.Kind.Liveness() }) {
		return exitLiveness
	}
	return exitSafety
}

// codeOf is the exit code for the problems of a run.
func codeOf(judged interface{ Has(verdict.Class) bool }) exitcode.Code {
	code := exitOK
	for class, c := range map[verdict.Class]exitcode.Code{verdict.Safety: exitSafety, verdict.Liveness: exitLiveness, verdict.NotTested: exitNotTested, verdict.ProgramFailed: exitUsage} {
		if judged.Has(class) {
			code = exitcode.Worst(code, c)
		}
	}
	return code
}

// ending is the error of a command that has said everything and ends with this code; nil for success.
func ending(code exitcode.Code) error {
	if code == exitOK {
		return nil
	}
	return &failure{code: code}
}

// endingAfter is that of one some of whose runs failed with an error; nil if none did.
func endingAfter(code exitcode.Code, failed error) error {
	if failed == nil {
		return ending(code)
	}
	f := failureOf(wrap(failed))
	return &failure{exitcode.Worst(code, f.code), f.err}
}

// addExitCodes lists the exit codes in the help of every command that does not say more about them.
func addExitCodes(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Long == "" {
			cmd.Long = cmd.Short + "."
		}
		if !strings.Contains(cmd.Long, exitcode.Heading) {
			cmd.Long = strings.TrimSpace(cmd.Long) + "\n\n" + exitcode.Help(nil)
		}
	}
}

// delivery is standard output. It remembers whether everything that was to be printed arrived: a report that was cut off must
// not look like a success.
type delivery struct {
	w   io.Writer
	err error // the first failure
}

// cannotWrite is the failure of an output, which a flag names; empty if none does.
func cannotWrite(flag string, err error) error {
	code := exitNotWritten
	if errors.As(err, new(*outfile.Refusal)) {
		code = exitUsage
	}
	if flag != "" {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return &failure{code, err}
}

func (d *delivery) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		err = &outfile.WriteError{Err: fmt.Errorf("standard output: %w", err)}
		if d.err == nil {
			d.err = err
		}
	}
	return n, err
}

// failureOf is how a command ends that prints to this output and would have ended with f.
func (d *delivery) failureOf(f *failure) *failure {
	switch {
	case f != nil && errors.As(f, new(*outfile.WriteError)):
		return &failure{exitNotWritten, f.err}
	case d.err == nil:
		return f
	case f == nil:
		return &failure{exitNotWritten, d.err}
	}
	code := exitcode.Worst(f.code, exitNotWritten)
	return &failure{code, errors.Join(f.err, d.err)}
}
