package mutants

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios"
)

// Options say how to run mutants. The zero value runs the killers of all of them until the first kill.
type Options struct {
	// Root is the module's root; empty is the working directory.
	Root string
	// Mutants are those to be run; nil is all.
	Mutants []Mutant
	// EveryKiller goes on with the other killers after the first kill.
	EveryKiller bool
	// Suite goes on with every scenario there is after the killers, on the mutant's tier.
	Suite bool
	// Explore, if it is not zero, is in how many random experiments on the default settings a search looks for the bug, too,
	// if that is in the library: adapters and other protocols are not what it runs.
	Explore int
	// Done, if not nil, is told of each outcome when it is there. It is called by one goroutine at a time.
	Done func(Outcome)
}

// Outcome is what became of a mutant.
type Outcome struct {
	Mutant Mutant
	// KilledBy are the scenarios that were not as expected, in the order in which they were run, or the search that
	// found the bug. It is empty for a mutant that survives.
	KilledBy []string
	// Runs is how many scenarios, or searches, were run until the first kill; all of them if there was none.
	Runs int
	// Explored says that a search was made, and Found in which of its runs it saw the bug first, from 1; zero if in none.
	Explored bool
	Found    int
	// Took is how long that took, with the build.
	Took time.Duration
}

// Run builds the mutants and runs the killers of each, several mutants at a time, and returns the outcomes in the order of
// the mutants. The error says which mutants have no place any more, do not build, or end a run in another way than with
// a verdict; their outcomes say that nothing killed them.
func Run(ctx context.Context, o Options) ([]Outcome, error) {
	all := o.Mutants
	if all == nil {
		all = All()
	}
	outcomes, errs := make([]Outcome, len(all)), make([]error, len(all))
	work := make(chan int)
	var told sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range work {
				outcomes[i], errs[i] = o.run(ctx, all[i])
				if o.Done != nil {
					told.Lock()
					o.Done(outcomes[i])
					told.Unlock()
				}
			}
		})
	}
	for i := range all {
		work <- i
	}
	close(work)
	workers.Wait()
	return outcomes, errors.Join(errs...)
}

func (o Options) run(ctx context.Context, m Mutant) (out Outcome, err error) {
	start := time.Now()
	out.Mutant = m
	defer func() { out.Took = cmp.Or(out.Took, time.Since(start)) }()
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	what := Runner
	if o.Suite || o.Explore > 0 || len(m.Search) > 0 {
		what = Whole
	}
	binary, err := m.Build(ctx, cmp.Or(o.Root, "."), dir, what)
	if err != nil {
		return out, err
	}
	// killed takes note of a run.
	killed := func(by string, red bool) {
		if len(out.KilledBy) == 0 {
			out.Runs++
		}
		if !red || slices.Contains(out.KilledBy, by) {
			return
		}
		if out.KilledBy = append(out.KilledBy, by); len(out.KilledBy) == 1 {
			out.Took = time.Since(start)
		}
	}
	for _, name := range m.Killers {
		if len(out.KilledBy) > 0 && !o.EveryKiller && !o.Suite {
			return out, nil
		}
		red, _, err := isRed(ctx, binary, "run", name, "--tier", m.tier())
		if err != nil {
			return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
		killed(name, red)
	}
	if o.Suite {
		_, text, err := isRed(ctx, binary, "suite", "--tier", m.tier(), "--json", "-")
		if err != nil {
			return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
		var suite struct {
			Scenarios []struct {
				Name    string
				Verdict string
				OK      bool
			}
		}
		if err := json.Unmarshal(text, &suite); err != nil {
			return out, fmt.Errorf("mutants: %s: the suite's results: %w", m.Name, err)
		}
		for _, s := range suite.Scenarios {
			killed(s.Name, !s.OK && s.Verdict != scenarios.NothingTested)
		}
	}
	if len(m.Search) > 0 && (len(out.KilledBy) == 0 || o.EveryKiller) {
		red, _, err := isRed(ctx, binary, m.Search...)
		if err != nil {
			return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
		killed("redlocksim "+strings.Join(m.Search, " "), red)
	}
	if o.Explore > 0 && m.inLibrary() {
		out.Explored = true
		if out.Found, err = explored(ctx, binary, o.Explore, dir); err != nil {
			return out, fmt.Errorf("mutants: %s: %w", m.Name, err)
		}
	}
	return out, nil
}

// inLibrary says whether the bug is in what runs on tier model.
func (m Mutant) inLibrary() bool {
	return m.tier() == "model" && slices.ContainsFunc(m.Edits, func(e Edit) bool { return strings.HasPrefix(e.File, "redlock/") })
}

// explored is the number of the run in which a search finds a violation, from 1; zero if it finds none.
func explored(ctx context.Context, binary string, runs int, dir string) (int, error) {
	found, text, err := isRed(ctx, binary, "explore", "--seeds", fmt.Sprint(runs), "--dir", filepath.Join(dir, "search"), "--json", "-")
	if err != nil || !found {
		return 0, err
	}
	var summary struct {
		Findings []struct {
			Run int
		}
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		return 0, fmt.Errorf("the search's results: %w", err)
	}
	first := runs
	for _, f := range summary.Findings {
		first = min(first, f.Run+1)
	}
	return first, nil
}

func (m Mutant) tier() string { return cmp.Or(m.Tier, "model") }

// longest is how long a command may take: a mutant that spins without ever waiting stops the simulated clock, too.
const longest = 5 * time.Minute

// isRed runs a redlocksim command and reports whether the verdict was another than expected, by its exit code, and what it
// printed. A run that was not tested shows nothing, whether or not there is a bug, and is not red. Every other end but success
// is an error.
func isRed(ctx context.Context, binary string, args ...string) (red bool, printed []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && (exit.ExitCode() == exitcode.Safety || exit.ExitCode() == exitcode.Liveness) {
		return true, stdout.Bytes(), nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitcode.NotTested {
		return false, stdout.Bytes(), nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("redlocksim %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return false, stdout.Bytes(), nil
}
