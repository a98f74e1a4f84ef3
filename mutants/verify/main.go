// Command verify runs all mutants and writes what killed which to mutants/results.json and mutants/TABLE.md.
//
// It runs the mutants that are new or were changed; with -all also those whose results are of other sources, which takes
// minutes. It can be interrupted: it keeps each result at once, and the next call continues with the rest. It exits with 1 if a
// mutant survives, or is not killed by everything listed for it, and with 2 if it cannot run.
package main

import (
	"cmp"
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
	search := flag.Int("search", 0, "in how many experiments with each of the settings a search looks for each bug; with another number than the results were made with, all mutants are run anew (0: as the results were made)")
	all := flag.Bool("all", false, "run also mutants that have a result, if the sources have changed since")
	suite := flag.Bool("suite", false, "run every scenario against every mutant, print what turns red, and write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var survived bool
	var err error
	if *suite {
		survived, err = everyScenario(ctx)
	} else {
		survived, err = verify(ctx, *search, *all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if survived {
		os.Exit(1)
	}
}

// firstSearch is how many experiments a search makes where there are no results yet.
const firstSearch = 10

// verify runs the mutants that have no result yet, or with all those that have none of these sources.
func verify(ctx context.Context, search int, all bool) (survived bool, err error) {
	path := filepath.Join("mutants", "results.json")
	sources, err := mutants.Sources(ctx, ".")
	if err != nil {
		return false, err
	}
	results, err := mutants.ReadResults(path)
	if err != nil {
		return false, err
	}
	switch search {
	case 0:
		search = cmp.Or(results.Searched, firstSearch)
		results.Searched = search
	case results.Searched:
	default:
		results = mutants.Results{Searched: search}
	}
	results = results.Kept()
	missing := results.Missing()
	if all {
		missing = results.Outdated(sources)
	}
	done := len(mutants.All()) - len(missing)
	if len(missing) > 0 {
		_, err = mutants.Run(ctx, mutants.Options{Mutants: missing, EveryKiller: true, Search: search, Done: func(o mutants.Outcome) error {
			done++
			fmt.Printf("%3d of %d  %s: killed by %v, found in %v, %v\n", done, len(mutants.All()), o.Mutant.Name, o.KilledBy, o.Found, o.Took.Round(100*time.Millisecond))
			results.Add(o.Result(sources))
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
	if err := results.Write(path); err != nil { // without those of mutants that there are no more
		return survived, err
	}
	return survived, os.WriteFile(filepath.Join("mutants", "TABLE.md"), []byte(results.Page()), 0o666)
}

// everyScenario says of each mutant which scenarios of the catalogue turn red.
func everyScenario(ctx context.Context) (survived bool, err error) {
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
