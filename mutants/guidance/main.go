// Command guidance measures whether guidance helps a random search: for each of some planted bugs and each of some seeds, the
// run in which a search with all settings finds the bug, guided by near misses and rare states, and with --blind. It prints the
// table of mutants/GUIDANCE.md.
//
// It exits with 2 if it cannot measure. It takes some seconds for a hundred runs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"redlocksim/mutants"
)

// hard are bugs that a search finds only after some runs, and some that it may not find.
var hard = []string{
	"unlock-says-yes", "no-partial-release", "releases-known-votes-only", "one-failed-renewal-is-the-last",
	"guard-trusts-the-node", "first-of-several", "extends-the-first-of-several", "half-is-not-lost", "one-node-counted-twice",
	"extend-counts-from-the-replies", "renewal-tells-late", "batch-without-the-rest", "deaf-to-releases",
	"queue-outlives-a-lost-lease", "tokens-of-all-resources",
}

func main() {
	runs := flag.Int("runs", 300, "how many runs a search makes at most")
	seeds := flag.Int("seeds", 3, "how many searches there are of each kind for each bug")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *runs, *seeds, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// sum is what the searches of one kind came to: how many found the bug, and how many runs they made.
type sum struct{ found, runs int }

func measure(ctx context.Context, runs, seeds int, names []string) error {
	if len(names) == 0 {
		names = hard
	}
	dir, err := os.MkdirTemp("", "guidance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("| bug | guided: run of the find, by seed | runs | blind | runs |\n|---|---|---:|---|---:|\n")
	var all [2]sum
	for _, name := range names {
		i := slices.IndexFunc(mutants.All(), func(m mutants.Mutant) bool { return m.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no mutant %q", name)
		}
		binary, err := mutants.All()[i].Build(ctx, ".", dir)
		if err != nil {
			return err
		}
		row := "| " + name
		for kind := range all {
			one, cells, err := searches(ctx, binary, kind == 1, runs, seeds)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all[kind].found, all[kind].runs = all[kind].found+one.found, all[kind].runs+one.runs
			row += fmt.Sprintf(" | %s | %d", cells, one.runs)
		}
		fmt.Println(row + " |")
		if err := os.Remove(binary); err != nil {
			return err
		}
	}
	total := len(names) * seeds
	fmt.Printf("| all | %d of %d searches found it | %d | %d of %d | %d |\n", all[0].found, total, all[0].runs, all[1].found, total, all[1].runs)
	return nil
}

// searches makes the searches of one kind for a bug. One that does not find it has made all its runs.
func searches(ctx context.Context, binary string, blind bool, runs, seeds int) (s sum, cells string, err error) {
	var each []string
	for seed := range uint64(seeds) {
		n, err := mutants.RunsUntilFound(ctx, binary, blind, seed, runs)
		switch {
		case err != nil:
			return s, "", err
		case n == 0:
			each = append(each, "–")
			s.runs += runs
		default:
			each = append(each, fmt.Sprint(n))
			s.found, s.runs = s.found+1, s.runs+n
		}
	}
	return s, strings.Join(each, ", "), nil
}
