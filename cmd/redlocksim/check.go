package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/checker/foreign"
	"redlocksim/internal/exitcode"
	"redlocksim/internal/printable"
	"redlocksim/reports"
)

var checkHelp = `Check recorded lock histories: did two clients ever hold the lock at once?

A history lists what each client asked of a lock and what it was told, in the
order of events. It can come from any implementation. The format is detected:

  edn     Jepsen's history.edn, one operation per line or all in one vector:
            {:process 0, :type :invoke, :f :acquire, :value nil}
            {:process 0, :type :ok,     :f :acquire, :value nil}
  json    the same as JSON, one object per line or all in one array:
            {"process":0,"type":"invoke","f":"acquire"}
            {"process":0,"type":"ok","f":"acquire"}
  native  the JSON Lines of redlocksim itself, which need no --model

Each operation has two lines: type invoke, then ok (it happened), fail (it
certainly did not) or info (unknown). An operation without a second line counts
as info. f is acquire or lock, release or unlock, extend or refresh. Lines of
the process nemesis are skipped. Of other fields only time (in nanoseconds, for
leases) and index are used.

The same history can be right for one kind of lock and wrong for another, so you
must name the kind:

  --model mutex      one holder at a time; anybody may release (Jepsen's mutex)
  --model owner      only the holder, a process, can release or extend
  --model reentrant  the holder may acquire again, and releases as often
  --model fenced     as owner, and acquire returns a token, a whole number above
                     all earlier ones: "value":7, or ["name",7], or a map with
                     token or fence; -1 is a token that nobody knows
  --model reentrant-fenced
                     as reentrant, with tokens; all acquires of a hold share one
  --model lease --lease 10s
                     as owner, but another may take the lock from 10s after the
                     call of the acquire or last extend; every line needs a time

docs/checker.md defines each model.

Operations that name a lock are judged lock by lock. The name is the field key,
lock, name or resource of the operation, or of a value that is a map. It may
also be the first element of a value that is a pair, ["a-lock" 7], as with
Jepsen's independent keys. --group-by key requires a name in every operation,
and takes a value that is only text as the name. --group-by none puts all
operations on one lock.

In a mixed workload --only acquire,release judges these operations and skips the
others; --key NAME judges the operations on one lock. --sort sorts lines by
time, for recorders whose times step back a little.

An acquire with an unknown outcome counts as a hold only if a later success of
the same process proves it. An operation with an unknown outcome may have
happened at any time up to the next success of its process, or never.

The answer is good or bad, with the two conflicting operations as FILE:LINE.
Findings:
  lease-overlap    two processes held the lock at the same time
  not-held         a release or extend succeeded though the lock was not held
  token-repeated   two grants got the same token
  token-regressed  a grant got a lower token than an earlier one
  token-gap        no number is left for a grant whose token is unknown
  token-changed    a holder acquired again and got another token
and, in native histories, the findings of redlocksim run.

` + exitcode.Help(exitcode.Specifics{
	exitOK:     "every history is good",
	exitSafety: "a history is bad",
	exitUsage:  "also a file without a verdict, since it is truncated, empty, out of order or not a history",
})

// checkFlags are the flags of check.
type checkFlags struct {
	o                    foreign.Options
	model, format, group string
	asJSON               bool
}

func newCheck() *cobra.Command {
	c := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check recorded lock histories: Jepsen's, or your own",
		Long:  checkHelp,
		Example: `  redlocksim check --model mutex store/latest/history.edn
  redlocksim check --model lease --lease 10s --json history.json
  redlocksim check run.jsonl
  zcat history.edn.gz | redlocksim check --model fenced -`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.model, "model", "", "kind of lock: "+list(foreign.Models()))
	f.DurationVar(&c.o.Lease, "lease", 0, "length of a lease, for --model lease: 10s, 500ms")
	f.StringVar(&c.group, "group-by", string(foreign.ByNameIfAny), "how to tell locks apart: "+list(foreign.Groupings()))
	f.StringVar(&c.format, "format", "", "file format: "+list(foreign.Formats())+" (default detected)")
	f.StringArrayVar(&c.o.Keys, "key", nil, "judge only the operations on this lock; may be repeated")
	f.StringSliceVar(&c.o.Only, "only", nil, "judge only these operations of a mixed workload: acquire,release")
	f.BoolVar(&c.o.Sort, "sort", false, "sort the lines by time first, and report how many were moved")
	f.BoolVar(&c.asJSON, "json", false, "write the answer as JSON; a file without a verdict has null")
	return cmd
}

func (c *checkFlags) run(cmd *cobra.Command, args []string) error {
	// What a check holds grows with the history, unlike that of a run.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	c.o.Model, c.o.Format, c.o.Group = foreign.Model(c.model), foreign.Format(c.format), foreign.Grouping(c.group)
	code := exitOK
	var all []reports.Judged
	for _, file := range args {
		j, failed := checkFile(cmd.InOrStdin(), file, c.o)
		code = exitcode.Worst(code, failed)
		if failed == exitOK && !j.Report.Good() {
			code = exitcode.Worst(code, exitSafety)
		}
		if j.Err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", printable.Line(j.Err.Error()))
		} else if !c.asJSON {
			if err := reports.Check(cmd.OutOrStdout(), j.File, j.Report); err != nil {
				return wrap(err)
			}
		}
		all = append(all, j)
	}
	if c.asJSON {
		if err := reports.CheckJSON(cmd.OutOrStdout(), all); err != nil {
			return wrap(err)
		}
	}
	return ending(code)
}

// list is the words of an enumeration as help texts and errors name them.
func list[T ~string](all []T) string { return strings.Join(texts(all), ", ") }

// reason is an error of the input without its line.
type reason struct{ *foreign.InputError }

func (r reason) Error() string { return r.Reason() }

// checkFile judges one file, - for standard input. The code is that of an error, exitOK if there was none.
func checkFile(stdin io.Reader, file string, o foreign.Options) (reports.Judged, exitcode.Code) {
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
	case errors.As(err, new(*fs.PathError)): // names the file
	case errors.Is(err, checker.ErrDisagree):
		code, err = exitInternal, fmt.Errorf("%s: internal error: %w", file, err)
	case errors.As(err, &invalid):
		err = fmt.Errorf("%s:%d: %w", file, invalid.Line, reason{invalid})
	case errors.Is(err, foreign.ErrOptions) && !slices.Contains(foreign.Models(), o.Model):
		err = fmt.Errorf("%s: %w: --model %s (see redlocksim check --help)", file, err, list(foreign.Models()))
	default:
		err = fmt.Errorf("%s: %w", file, err)
	}
	return reports.Judged{File: file, Err: err}, code
}
