package mutants

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/jobs"
)

// Options say how to run mutants. The zero value runs the killers of all of them until the first kill.
type Options struct {
	// Root is the module's root; empty is the working directory.
	Root string
	// Mutants are those to be run; nil is all.
	Mutants []Mutant
	// EveryKiller goes on with the other killers after the first kill.
	EveryKiller bool
	// Suite names scenarios that are run after the killers, on the mutant's tier, whether or not they are meant to kill it.
	Suite []string
	// Search, if it is not zero, is in how many random experiments with each of AllSettings a search looks for the bug, too, if
	// that is in the library: adapters and other protocols are not what it runs.
	Search int
	// Limit is how long a run may take before it is made again with three times as much; defaultLimit if zero.
	Limit time.Duration
	// Done, if not nil, is told of each outcome when it is there. It is called by one goroutine at a time. An error ends
	// the rest.
	Done func(Outcome) error
}

// defaultLimit is a hundred times as long as a scenario takes: a mutant that waits for ever, or spins without ever waiting,
// which stops the simulated clock too, costs seconds.
const defaultLimit = 10 * time.Second

// Outcome is what became of a mutant.
type Outcome struct {
	Mutant Mutant
	// KilledBy are the scenarios that were not as expected, in the order in which they were run. It is empty for a mutant that
	// survives.
	KilledBy []Kill
	// Runs is how many scenarios were run until the first kill; all of them if there was none.
	Runs int
	// Found is what the searches came to, one with each of the settings; nil if there was none.
	Found []Found
	// Took is how long that took, with the build.
	Took time.Duration
}

// Kill is a scenario that was not as expected.
type Kill struct {
	By string `json:"by"`
	// How is empty if the scenario came to a verdict, and says otherwise how the run ended: the process panicked, or
	// it did not end.
	How string `json:"how,omitempty"`
}

func (k Kill) String() string {
	if k.How != "" {
		return k.By + " (" + k.How + ")"
	}
	return k.By
}

// Found is what a search came to.
type Found struct {
	Settings string `json:"settings"`
	// Run is the first that broke the lock, from 1; zero if none did.
	Run int `json:"run,omitempty"`
	// How is as in Kill.
	How string `json:"how,omitempty"`
}

// Run builds the mutants and runs the killers of each, several mutants at a time, and returns the outcomes in the order of
// the mutants. Every run is a process of its own: one that panics or does not end is a kill, and hides no other. The error
// says which mutants have no place any more, do not build, or name what there is not; their outcomes say that nothing killed
// them.
func Run(ctx context.Context, o Options) ([]Outcome, error) {
	all := o.Mutants
	if all == nil {
		all = All()
	}
	errs := make([]error, len(all)+1)
	results, err := jobs.Set[struct{}, Outcome]{N: len(all),
		Do: func(ctx context.Context, _ *struct{}, i int) (out Outcome, err error) {
			out, errs[i] = o.run(ctx, all[i])
			return out, nil // the others are run all the same
		},
		Done: func(i int, out Outcome, _ time.Duration) error {
			if o.Done == nil || errs[i] != nil {
				return nil
			}
			return o.Done(out)
		},
		Name: func(i int) string { return all[i].Name },
	}.Run(ctx)
	errs[len(all)] = err
	outcomes := make([]Outcome, len(all))
	for i, r := range results {
		if outcomes[i] = r.Value; r.Done {
			continue
		}
		outcomes[i].Mutant = all[i]
		if errs[i] == nil && err == nil {
			errs[i] = fmt.Errorf("mutants: %s: %w", all[i].Name, context.Cause(ctx))
		}
	}
	return outcomes, errors.Join(errs...)
}

func (o Options) run(ctx context.Context, m Mutant) (out Outcome, err error) {
	start := time.Now()
	out.Mutant = m
	defer func() {
		if out.Took = cmp.Or(out.Took, time.Since(start)); err != nil {
			out.KilledBy, out.Found = nil, nil
		}
	}()
	if err := ctx.Err(); err != nil {
		return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	for _, t := range m.Tests {
		isRed, err := m.failsTest(ctx, cmp.Or(o.Root, "."), dir, t)
		if err != nil {
			return out, err
		}
		if isRed {
			out.KilledBy = append(out.KilledBy, Kill{t.String(), "unit test"})
		}
	}
	binary, err := m.Build(ctx, cmp.Or(o.Root, "."), dir)
	if err != nil {
		return out, err
	}
	for _, name := range slices.Concat(m.Killers, o.Suite) {
		if len(out.KilledBy) > 0 && !o.EveryKiller && o.Suite == nil {
			break
		}
		if slices.ContainsFunc(out.KilledBy, func(k Kill) bool { return k.By == name }) {
			continue
		}
		end, err := o.end(ctx, "", binary, "run", name, m.tier())
		if err != nil {
			return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
		if len(out.KilledBy) == 0 || m.Tests != nil {
			out.Runs++
		}
		if end.isRed {
			out.KilledBy = append(out.KilledBy, Kill{name, end.how})
		}
	}
	if o.Search > 0 && m.inLibrary() {
		for _, s := range AllSettings() {
			f, err := o.search(ctx, binary, s)
			if err != nil {
				return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
			}
			out.Found = append(out.Found, f)
		}
	}
	return out, nil
}

// inLibrary says whether the bug is in what runs on tier model of the library, or of the packages that it alone is made of.
func (m Mutant) inLibrary() bool {
	return m.tier() == "model" && slices.ContainsFunc(m.Edits, func(e Edit) bool {
		return strings.HasPrefix(e.File, "redlock/") || strings.HasPrefix(e.File, "internal/quorum/")
	})
}

// search looks for the bug with the settings.
func (o Options) search(ctx context.Context, binary string, s Settings) (Found, error) {
	f := Found{Settings: s.Name}
	o.Limit = 6 * cmp.Or(o.Limit, defaultLimit)
	end, err := o.end(ctx, s.Text, binary, "search", fmt.Sprint(o.Search))
	if err != nil || !end.isRed {
		return f, err
	}
	if f.How = end.how; f.How != "" {
		return f, nil
	}
	f.Run, err = strconv.Atoi(strings.TrimSpace(end.printed))
	return f, err
}

// RunsUntilFound is in which run a search with all settings finds the bug that a binary of the runner was built with: guided by
// what earlier runs showed, or blind. Zero is that it does not within so many runs. A run that panics or does not end is an
// error: it does not say which.
func RunsUntilFound(ctx context.Context, binary string, blind bool, seed uint64, runs int) (int, error) {
	how := "guided"
	if blind {
		how = "blind"
	}
	end, err := Options{Limit: time.Duration(runs) * time.Second}.end(ctx, "", binary, "first", how, fmt.Sprint(seed), fmt.Sprint(runs))
	switch {
	case err != nil || !end.isRed:
		return 0, err
	case end.how != "":
		return 0, fmt.Errorf("the search %s", end.how)
	}
	return strconv.Atoi(strings.TrimSpace(end.printed))
}

func (m Mutant) tier() string { return cmp.Or(m.Tier, "model") }

// end is how a process ended.
type end struct {
	isRed   bool
	how     string
	printed string
}

// exitPanic is the exit code of a Go program that panics. The others are those of the project.
const exitPanic = 2

// end runs a command and says how it ended. One that does not end in time is run once more, with three times as long: the
// machine may be busy. The error is about commands that end in no way that a mutant brings about.
func (o Options) end(ctx context.Context, stdin, binary string, args ...string) (end, error) {
	limit := cmp.Or(o.Limit, defaultLimit)
	for _, limit := range []time.Duration{limit, 3 * limit} {
		e, err := endWithin(ctx, limit, stdin, binary, args...)
		if !errors.Is(err, context.DeadlineExceeded) {
			return e, err
		}
	}
	return end{isRed: true, how: "does not end"}, nil
}

func endWithin(parent context.Context, limit time.Duration, stdin, binary string, args ...string) (end, error) {
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	switch {
	case parent.Err() != nil:
		return end{}, context.Cause(parent)
	case ctx.Err() != nil:
		return end{}, ctx.Err()
	case err == nil:
		return end{}, nil
	}
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) {
		return end{}, err
	}
	e := end{isRed: true, printed: stdout.String()}
	switch exit.ExitCode() {
	case exitcode.Safety, exitcode.Liveness:
	case exitPanic, exitcode.Internal:
		if e.how = "ends without a verdict"; strings.Contains(stderr.String(), "goroutine ") {
			e.how = "panics"
		}
	case exitcode.NotTested: // which shows nothing, with the bug or without
		e.isRed = false
	case exitcode.NotRepeated:
		e.how = "does not repeat itself"
	default:
		return end{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(binary), strings.Join(args, " "), err, stderr.Bytes())
	}
	return e, nil
}
