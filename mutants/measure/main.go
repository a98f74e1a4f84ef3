// Command measure measures how many of a sample of generated bugs are noticed, and writes mutants/power.json and
// mutants/POWER.md.
//
// It can be interrupted: it keeps each result at once, and the next call with the same flags goes on with the rest. With -shard
// each of several machines measures a part, into a file of its own (-results); files that are given as arguments are added.
//
// With -columns it measures only these, in this order, until one notices the bug, and with -in it plants bugs only into some
// files. Such results are for finding out what escapes: they go to a file of their own, which no page is made of. It exits with
// 2 if it cannot measure.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"redlocksim/mutants"
	"redlocksim/mutants/generate"
	"redlocksim/mutants/power"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() error {
	o := power.Options{Root: "."}
	target := flag.String("target", string(generate.Library), "where bugs are planted: library, semaphores, or protocols")
	flag.IntVar(&o.Sample, "sample", 0, "how many bugs are drawn (0: as many as the results have)")
	flag.StringVar(&o.Seed, "seed", "", "what draws them, such as the hash of a commit (empty: that of the results)")
	flag.DurationVar(&o.Limit, "limit", 2*time.Minute, "how much processor time a search has for each bug")
	flag.IntVar(&o.Jobs, "jobs", 2, "how many bugs are measured at once")
	flag.StringVar(&o.Cache, "cache", "", "directory for a build cache that does not grow with each bug (empty: Go's own)")
	shard := flag.String("shard", "", "measure only this part of the sample, as in 2/8")
	path := flag.String("results", "", "file for the results (default mutants/power.json, or that of the target)")
	columns := flag.String("columns", "", "measure only these, as in explore,suite, until one notices the bug; needs -results, and writes no page")
	in := flag.String("in", "", "plant bugs only into files whose names match this regular expression; needs -columns")
	flag.Parse()
	o.Target = generate.Target(*target)
	if *columns != "" && (*path == "" || flag.NArg() > 0) {
		return fmt.Errorf("-columns needs -results, and adds no other results")
	}
	if err := narrow(&o, *columns, *in); err != nil {
		return err
	}
	names, known := power.FilesOf(o.Target)
	if !known {
		return fmt.Errorf("-target %s: must be library, semaphores or protocols", o.Target)
	}
	*path = cmp.Or(*path, filepath.Join("mutants", names.Results))
	results, err := resume(&o, *path)
	if err != nil {
		return err
	}
	for _, other := range flag.Args() {
		if err := add(&results, other); err != nil {
			return err
		}
	}
	if *shard != "" {
		if n, err := fmt.Sscanf(*shard, "%d/%d", &o.Shard, &o.Shards); n != 2 || err != nil || o.Shard < 1 || o.Shard > o.Shards {
			return fmt.Errorf("-shard %q: want i/n, as in 2/8", *shard)
		}
		o.Shard--
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o, &results, *path); err != nil || o.Columns != nil {
		return err
	}
	judged, err := power.ReadJudged(filepath.Join("mutants", "judged.yaml"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("mutants", names.Page), []byte(results.Page(judged)), 0o666)
}

// narrow has only some columns measured, and bugs planted only into some files, if these are given.
func narrow(o *power.Options, columns, in string) error {
	if columns != "" {
		for name := range strings.SplitSeq(columns, ",") {
			o.Columns = append(o.Columns, power.Column(name))
		}
	}
	if in == "" {
		return nil
	}
	re, err := regexp.Compile(in)
	if err != nil {
		return fmt.Errorf("-in: %w", err)
	}
	if o.In = re; o.Columns == nil {
		return fmt.Errorf("-in needs -columns")
	}
	return nil
}

// resume reads the results that a file has so far, and takes from it what the options leave open.
func resume(o *power.Options, path string) (power.Results, error) {
	results, err := power.Read(path)
	if err != nil {
		return results, err
	}
	o.Seed, o.Sample = cmp.Or(o.Seed, results.Seed), cmp.Or(o.Sample, results.Sample)
	switch {
	case o.Seed == "" || o.Sample == 0:
		return results, fmt.Errorf("there are no results yet: -seed and -sample are needed")
	case len(results.Mutants) == 0:
	case results.Target != o.Target:
		return results, fmt.Errorf("%s has the target %s, and not %s", path, results.Target, o.Target)
	case !slices.Equal(results.Columns, o.Columns):
		return results, fmt.Errorf("%s has the columns %v (none: all of them), and not %v", path, results.Columns, o.Columns)
	case results.Seed != o.Seed:
		results.Mutants = nil
	}
	results.Target, results.Seed, results.Sample, results.Columns = o.Target, o.Seed, o.Sample, o.Columns
	return results, nil
}

// add adds the results that another machine has in a file.
func add(results *power.Results, path string) error {
	part, err := power.Read(path)
	if err != nil {
		return err
	}
	if part.Seed != results.Seed || part.Target != results.Target {
		return fmt.Errorf("%s has bugs of another seed or target", path)
	}
	if part.Columns != nil {
		return fmt.Errorf("%s has only the columns %v", path, part.Columns)
	}
	for _, m := range part.Mutants {
		results.Add(m)
	}
	return nil
}

// measure measures what is not in the results yet, and keeps each result at once.
func measure(ctx context.Context, o power.Options, results *power.Results, path string) error {
	var err error
	if o.Sources, err = mutants.Sources(ctx, o.Root); err != nil {
		return err
	}
	seconds := int(o.Limit / time.Second)
	o.Done = func(r power.Result) error {
		results.Add(r)
		fmt.Println(len(results.Mutants), r)
		return results.Write(path)
	}
	return power.Measure(ctx, o, func(m generate.Mutant) (power.Result, bool) { return results.Of(m, o.Sources, seconds) })
}
