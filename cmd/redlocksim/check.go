package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/checker"
	"redlocksim/checker/foreign"
	"redlocksim/internal/exitcode"
	"redlocksim/internal/printable"
	"redlocksim/reports"
)

var checkHelp = `Check recorded lock histories: did two clients ever hold the lock at once?

A history lists what each client asked of a lock and what it was told:
  {"process":"a","type":"invoke","f":"acquire","time":"2026-11-25T12:00:00.1Z"}
  {"process":"a","type":"ok","f":"acquire","time":"2026-11-25T12:00:00.2Z"}
in JSON, or in Jepsen's EDN ({:process 0, :type :ok, :f :acquire}).
docs/histories.md has the rest.

--model says what kind of lock it is:
  mutex      one holder at a time; anybody may release
  owner      only the holder, a process, can release or extend
  reentrant  the holder may acquire again, and releases as often
  fenced     as owner, and each acquire returns a higher token: "value":7
  reentrant-fenced  as reentrant; all acquires of a hold share a token
  lease      as owner, for --lease 10s after the acquire or last extend
With --lease, fenced judges leases, too. Each acquire can say its own, as in
"ttl":"10s". Read-write locks ("mode":"read") and semaphores can be judged.

With --merge the files are the logs of several processes, put in the order of
their times. If they ran on several machines, --clock-error says how far their
clocks may differ, and nothing is called bad that this explains.

` + exitcode.Help(exitcode.Specifics{
	exitOK:        "every history is good",
	exitSafety:    "a history is bad",
	exitUsage:     "also a file without a verdict, since it is truncated, empty, out of order or not a history",
	exitNotTested: "a lock that the model cannot judge",
})

// checkFlags are the flags of check.
type checkFlags struct {
	o                  foreign.Options
	model, group, unit string
	merge, asJSON      bool
	semaphores         []string
}

func newCheck() *cobra.Command {
	c := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check recorded lock histories: Jepsen's, or your own",
		Long:  checkHelp,
		Example: `  redlocksim check --model owner history.jsonl
  redlocksim check --model lease --lease 10s --merge --clock-error 5ms *.jsonl
  zcat history.edn.gz | redlocksim check --model fenced -`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.model, "model", "", "kind of lock: "+list(foreign.Models()))
	f.DurationVar(&c.o.Lease, "lease", 0, "length of leases without a ttl")
	f.StringVar(&c.group, "group-by", string(foreign.ByNameIfAny), "how to tell locks apart: "+list(foreign.Groupings()))
	f.StringSliceVar(&c.semaphores, "semaphore", nil, "how many may hold a lock at a time, as in `pool=3`")
	f.StringArrayVar(&c.o.Keys, "key", nil, "judge only this lock; may be repeated")
	f.StringSliceVar(&c.o.Only, "only", nil, "judge only these operations: acquire,release")
	f.StringToStringVar(&c.o.Map, "map", nil, "what an operation does, as in `prolong=extend`")
	f.Lookup("map").DefValue = "" // else the help says that it is []
	f.StringVar(&c.unit, "unit", "", "what times count: "+list(timeUnits))
	f.BoolVar(&c.o.Sort, "sort", false, "sort the lines of a file by time first")
	f.BoolVar(&c.merge, "merge", false, "judge all files as one history, in the order of times")
	f.DurationVar(&c.o.ClockError, "clock-error", 0, "how far the clocks of processes differ: 5ms")
	f.BoolVar(&c.asJSON, "json", false, "write the answer as JSON (no verdict: null)")
	return cmd
}

func (c *checkFlags) run(cmd *cobra.Command, args []string) error {
	// What a check holds grows with the history, unlike that of a run.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	c.o.Model, c.o.Group = foreign.Model(c.model), foreign.Grouping(c.group)
	if c.unit != "" {
		unit, err := time.ParseDuration("1" + c.unit)
		if err != nil || !slices.Contains(timeUnits, c.unit) {
			return &failure{exitUsage, fmt.Errorf("--unit %q: must be one of %s", c.unit, list(timeUnits))}
		}
		c.o.Unit = unit
	}
	permits := map[string]int{}
	for _, s := range c.semaphores {
		name, n, _ := strings.Cut(s, "=")
		var err error
		if permits[name], err = strconv.Atoi(n); err != nil {
			return &failure{exitUsage, fmt.Errorf(
				"--semaphore %q: must be NAME=N, with any name if the history names none", s)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(permits)) {
		c.o.Semaphores = append(c.o.Semaphores, checker.Semaphore{Name: name, Permits: permits[name]})
	}
	code := exitOK
	histories := slices.Collect(slices.Chunk(args, 1))
	if c.merge {
		histories = [][]string{args}
	}
	var all []reports.Judged
	for _, files := range histories {
		r, failed, err := checkHistory(cmd.InOrStdin(), files, c.o)
		code = exitcode.Worst(code, failed)
		j := reports.NewJudged(strings.Join(files, " + "), r, err)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", printable.Line(err.Error()))
		} else if !c.asJSON {
			if err := reports.Check(cmd.OutOrStdout(), &j); err != nil {
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

// timeUnits are the units that --unit takes.
var timeUnits = []string{"s", "ms", "us", "ns"}

// list is the words of an enumeration as help texts and errors name them.
func list[T ~string](all []T) string {
	var words []string
	for _, word := range all {
		words = append(words, string(word))
	}
	return strings.Join(words, ", ")
}

// checkHistory judges one file, - for standard input, or several as one.
func checkHistory(stdin io.Reader, files []string, o foreign.Options) (*foreign.Report, exitcode.Code, error) {
	var sources []foreign.Source
	for _, name := range files {
		in := stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return nil, exitUsage, err
			}
			defer f.Close()
			in = f
		}
		sources = append(sources, foreign.Source{Name: name, In: in})
	}
	r, err := foreign.Check(o, sources...)
	file := strings.Join(files, " + ")
	switch {
	case err == nil && r.Good():
		return r, exitOK, nil
	case err == nil:
		return r, exitSafety, nil
	case errors.Is(err, foreign.ErrNotJudged):
		return nil, exitNotTested, err
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*foreign.InputError)): // these name the file
	case errors.Is(err, foreign.ErrModel):
		err = fmt.Errorf("%s: %w: --model %s (see redlocksim check --help)", file, err, list(foreign.Models()))
	default:
		err = fmt.Errorf("%s: %w", file, err)
	}
	return nil, exitUsage, err
}
