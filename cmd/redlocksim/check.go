package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/checker/foreign"
	"redlocksim/internal/exitcode"
	"redlocksim/internal/printable"
	"redlocksim/reports"
)

var checkHelp = `Judge recorded histories of locks: did two ever hold the lock together?

A history is what each client asked a lock for and was told, in the order in
which it happened. It can come from anywhere. The format is found by itself:

  edn     Jepsen's history.edn, one operation a line or all in one vector:
            {:process 0, :type :invoke, :f :acquire, :value nil}
            {:process 0, :type :ok,     :f :acquire, :value nil}
  json    the same in JSON, one object a line or all in one array:
            {"process":0,"type":"invoke","f":"acquire"}
            {"process":0,"type":"ok","f":"acquire"}
  native  the JSON Lines of redlocksim itself; nothing more needs to be said

Each operation has two lines: type invoke, and then ok (it happened), fail (it
certainly did not) or info (nobody knows). An operation without a second line
counts as info. f is acquire or lock, release or unlock, extend or refresh.
Lines of the process nemesis are skipped. Other fields may be there; only time
(in nanoseconds, for leases) and index are looked at.

What kind of lock it should be has to be said, as the same history can be right
for one and wrong for another:

  --model mutex      one holder at a time; anybody may release (Jepsen's mutex)
  --model owner      only the holder, a process, can release or extend
  --model reentrant  the holder may acquire again, and releases as often
  --model fenced     as owner, and acquire returns a token, a whole number, that
                     is higher than all before: "value":7, or ["name",7], or a
                     map with token or fence; -1 is a token nobody knows
  --model reentrant-fenced
                     as reentrant, with tokens: one for all acquires of a hold
  --model lease --lease 10s
                     as owner, and another can take the lock from 10s after the
                     acquire or last extend was called; every line needs a time

docs/checker.md defines each of them.

Operations that name a lock are judged lock by lock. A name is a field key,
lock, name or resource of the operation, or of a value that is a map; or the
first of a value that is a pair, ["a-lock" 7], as Jepsen's independent keys are.
With --group-by key also a value that is a text alone is a name, and each
operation must have one; with --group-by none all are on one lock.

Of a mixed workload --only acquire,release judges these operations and passes
over the others, and --key NAME those on one lock. --sort is for files whose
times step back a little, as several recorders' do: it sorts the lines by time.

An acquire of unknown outcome counts as a hold only where a later success of the
same process shows that it was one. An operation of unknown outcome may have
happened up to the next success of its process, or never.

The answer is good or bad, with the two operations that conflict as FILE:LINE.
Findings:
  lease-overlap    two held the lock at the same time
  not-held         a release or extend succeeded though the lock was not held
  token-repeated   two grants got the same token
  token-regressed  a grant got a lower token than an earlier one
  token-gap        no number is left for a grant whose token is not known
  token-changed    a holder acquired again and got another token
and, in native histories, those of redlocksim run.

` + exitcode.Help(exitcode.Specifics{
	exitOK:     "every history is good",
	exitSafety: "a history is bad",
	exitUsage:  "also a file that cannot be judged, and has no verdict: it ends too early, is empty, mixed up, or not a history",
})

func newCheck() *cobra.Command {
	var model, format, group string
	var lease time.Duration
	var asJSON, sorted bool
	var keys, only []string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge recorded lock histories: Jepsen's, or your own",
		Long:  checkHelp,
		Example: `  redlocksim check --model mutex store/latest/history.edn
  redlocksim check --model lease --lease 10s --json history.json
  redlocksim check run.jsonl
  zcat history.edn.gz | redlocksim check --model fenced -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			// What a check holds grows with the history, unlike that of a run.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			o := foreign.Options{Model: foreign.Model(model), Format: foreign.Format(format), Group: foreign.Grouping(group), Lease: lease,
				Keys: keys, Only: only, Sort: sorted}
			code := exitOK
			var all []reports.Judged
			for _, file := range args {
				j, failed := checkFile(cmd.InOrStdin(), file, o)
				code = exitcode.Worst(code, failed)
				if failed == exitOK && !j.Report.Good() {
					code = exitcode.Worst(code, exitSafety)
				}
				if j.Err != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", printable.Line(j.Err.Error()))
				} else if !asJSON {
					if err := reports.Check(cmd.OutOrStdout(), j.File, j.Report); err != nil {
						return &failure{exitInternal, err}
					}
				}
				all = append(all, j)
			}
			if asJSON {
				if err := reports.CheckJSON(cmd.OutOrStdout(), all); err != nil {
					return &failure{exitInternal, err}
				}
			}
			if code != exitOK {
				return &failure{code: code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the kind of lock: "+list(foreign.Models()))
	cmd.Flags().DurationVar(&lease, "lease", 0, "how long a lease lasts, for --model lease: 10s, 500ms")
	cmd.Flags().StringVar(&group, "group-by", string(foreign.ByNameIfAny), "how locks are told apart: "+list(foreign.Groupings()))
	cmd.Flags().StringVar(&format, "format", "", "how the files are written: "+list(foreign.Formats())+"; found by itself unless given")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "judge only the operations on this lock; may be given again")
	cmd.Flags().StringSliceVar(&only, "only", nil, "judge only these operations of a mixed workload: acquire,release")
	cmd.Flags().BoolVar(&sorted, "sort", false, "put the lines in the order of their times first, and say how many were moved")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the answer as JSON, with null for a verdict where there is none")
	return cmd
}

func list[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// reason is an error of the input without its line.
type reason struct{ *foreign.InputError }

func (r reason) Error() string { return r.Reason() }

// checkFile judges one file, - for standard input. The code is that of an error, exitOK if there was none.
func checkFile(stdin io.Reader, file string, o foreign.Options) (reports.Judged, int) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return reports.Judged{File: file, Err: err}, exitUsage
		}
		defer f.Close()
		in = f
	}
	r, err := foreign.Check(in, o)
	if err == nil {
		return reports.Judged{File: file, Report: r}, exitOK
	}
	code := exitUsage
	switch invalid := (*foreign.InputError)(nil); {
	case errors.Is(err, checker.ErrDisagree):
		code, err = exitInternal, fmt.Errorf("%s: internal error: %w", file, err)
	case errors.As(err, &invalid):
		err = fmt.Errorf("%s:%d: %w", file, invalid.Line, reason{invalid})
	case errors.Is(err, foreign.ErrOptions) && o.Model == "":
		err = fmt.Errorf("%s: %w: --model %s (redlocksim check --help says which is which)", file, err, list(foreign.Models()))
	default:
		err = fmt.Errorf("%s: %w", file, err)
	}
	return reports.Judged{File: file, Err: err}, code
}
