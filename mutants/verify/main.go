// Command verify runs all mutants and writes what killed which to mutants/results.json and mutants/TABLE.md.
//
// It takes minutes and can be interrupted: what was run is kept as soon as it is there, and the next call goes on with
// the rest. When the sources have changed it begins anew. It exits with 1 if a mutant survives or is not killed by all that are
// said to kill it, and with 2 if it cannot be run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"redlocksim/mutants"
	"redlocksim/scenarios"
)

func main() {
	search := flag.Int("search", 100, "in how many experiments with each of the settings a search looks for each bug")
	suite := flag.Bool("suite", false, "run every scenario against every mutant, print what turns red, and write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := verify
	if *suite {
		run = everyScenario
	}
	survived, err := run(ctx, *search)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if survived {
		os.Exit(1)
	}
}

// verify runs the mutants that have no result yet.
func verify(ctx context.Context, search int) (survived bool, err error) {
	path := filepath.Join("mutants", "results.json")
	sources, err := mutants.Sources(ctx, ".")
	if err != nil {
		return false, err
	}
	results, err := mutants.ReadResults(path)
	if err != nil {
		return false, err
	}
	if results.Sources != sources || results.Searched != search {
		results = mutants.Results{Sources: sources, Searched: search}
	}
	missing := results.Missing()
	done := len(mutants.All()) - len(missing)
	if len(missing) > 0 {
		_, err = mutants.Run(ctx, mutants.Options{Mutants: missing, EveryKiller: true, Search: search, Done: func(o mutants.Outcome) error {
			done++
			fmt.Printf("%3d of %d  %s: killed by %v, found in %v, %v\n", done, len(mutants.All()), o.Mutant.Name, o.KilledBy, o.Found, o.Took.Round(100*time.Millisecond))
			results.Add(o.Result())
			return results.Write(path)
		}})
	}
	if err != nil {
		return false, err
	}
	for _, m := range mutants.All() {
		r, _ := results.Of(m.Name)
		for _, problem := range m.Problems(r) {
			survived = true
			fmt.Fprintln(os.Stderr, problem)
		}
	}
	return survived, os.WriteFile(filepath.Join("mutants", "TABLE.md"), []byte(results.Page()), 0o666)
}

// everyScenario says of each mutant which scenarios of the catalogue turn red.
func everyScenario(ctx context.Context, _ int) (survived bool, err error) {
	var all []string
	for _, s := range scenarios.Catalogue() {
		all = append(all, s.Name)
	}
	slices.Sort(all)
	_, err = mutants.Run(ctx, mutants.Options{Suite: all, Done: func(o mutants.Outcome) error {
		survived = survived || len(o.KilledBy) == 0
		fmt.Printf("%s: %v\n", o.Mutant.Name, o.KilledBy)
		return nil
	}})
	return survived, err
}
