// Command measure measures what notices bugs: those that somebody planted, or a sample of bugs that nobody chose.
//
//	go run ./mutants/measure [flags] planted|library|semaphores|protocols
//
// It keeps what became of each bug in mutants/measured/TARGET.jsonl at once, and measures bugs that are new or were changed; it
// can be interrupted, and goes on where it was. With -all it also measures bugs that were measured with other sources. Of drawn
// bugs it writes a page, mutants/POWER.md for the library.
//
// It exits with 1 if a planted bug is not noticed by everything that is said to notice it, and with 2 if it cannot measure.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"redlocksim/mutants"
)

func main() {
	missed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, one := range missed {
		fmt.Fprintln(os.Stderr, one)
	}
	if missed != nil {
		os.Exit(1)
	}
}

// arguments are what the command line says.
type arguments struct {
	measurement
	// wanted is what results have in common, as far as it is said, and results the path of their file.
	wanted  common
	results string
}

func run() (missed []string, err error) {
	a, err := parse()
	if err != nil {
		return nil, err
	}
	if a.measurement.results, err = read(a.results); err != nil {
		return nil, err
	}
	if err := a.resume(); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if a.sources, err = sources(ctx, a.root); err != nil {
		return nil, err
	}
	results := &a.measurement.results
	err = a.measurement.run(ctx, func(r record) error {
		results.add(r)
		fmt.Println(len(results.Bugs), r)
		return results.write(a.results)
	})
	if err = cmp.Or(err, results.write(a.results)); err != nil {
		return nil, err
	}
	if a.target.page == "" {
		return results.missed(), nil
	}
	return nil, os.WriteFile(filepath.Join("mutants", a.target.page), []byte(results.page(a.target)), 0o666)
}

func parse() (a arguments, err error) {
	a.root = "."
	flag.IntVar(&a.wanted.Sample, "sample", 0, "how many bugs are drawn (0: as many as the results have)")
	flag.StringVar(&a.wanted.Seed, "seed", "", "what draws them, such as the hash of a commit (empty: that of the results)")
	limit := flag.Duration("limit", 0, "how much processor time a search has for each drawn bug (0: as the results have, or 2m)")
	flag.BoolVar(&a.all, "all", false, "measure also bugs that were measured with other sources")
	flag.IntVar(&a.jobs, "jobs", 2, "how many bugs are measured at once")
	flag.Parse()
	if a.target, err = targetOf(flag.Arg(0)); err != nil {
		return a, err
	}
	a.wanted.Target, a.wanted.Limit = a.target.name, int(*limit/time.Second)
	a.results = filepath.Join("mutants", resultsPath(a.target.name))
	return a, nil
}

// resume takes from the results what the command line leaves open. Bugs of another seed or with another limit are measured
// anew.
func (a *arguments) resume() error {
	r, want := &a.measurement.results, a.wanted
	if r.Target != "" && r.Target != want.Target {
		return fmt.Errorf("%s has the target %s, and not %s", a.results, r.Target, want.Target)
	}
	if a.target.page == "" {
		r.common = common{Target: want.Target}
		return nil
	}
	const twoMinutes = 120
	want.Seed, want.Sample = cmp.Or(want.Seed, r.Seed), cmp.Or(want.Sample, r.Sample)
	want.Limit = cmp.Or(want.Limit, r.Limit, twoMinutes)
	if want.Seed == "" || want.Sample == 0 {
		return fmt.Errorf("there are no results yet: -seed and -sample are needed")
	}
	if want.Seed != r.Seed || want.Limit != r.Limit {
		r.Bugs = nil
	}
	r.common = want
	return nil
}

// missed says which planted bugs something does not notice that is said to notice them.
func (r records) missed() (all []string) {
	for _, m := range mutants.All() {
		for _, one := range those(r.Bugs, func(one record) bool { return one.Name == m.Name }) {
			all = append(all, one.missing(m)...)
		}
	}
	return all
}
