package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/build"
	"redlocksim/internal/exitcode"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
	"redlocksim/internal/workers"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/search/random"
	"redlocksim/search/sweep"
)

const workHelp = `Make the runs of explore and sweep commands that were started with --workers
and the same address, here and on any number of machines. Workers can come and
go: the jobs of a lost one are given to another. Press Ctrl-C to end this one.
A worker takes only jobs of its own build, since results depend on it.

The address is redis://[USER@]HOST[:PORT][/DATABASE][?prefix=PREFIX], rediss://
with TLS. The password comes from ` + workers.PasswordVariable + `, or from the
file that ` + workers.PasswordFileVariable + ` names.

`

func newWork() *cobra.Command {
	w, noCache := workers.Worker{}, false
	cmd := &cobra.Command{
		Use:   "work ADDRESS",
		Short: "Make the runs of searches and sweeps that were started elsewhere",
		Long: workHelp + exitcode.Help(exitcode.Specifics{
			exitOK:    "it was ended with Ctrl-C",
			exitUsage: "also if the Redis cannot be reached",
		}),
		Example: `  redlocksim work redis://jobs.example.com
  redlocksim work rediss://search@jobs.example.com:6380/1?prefix=ci- --jobs 4`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Tell = teller(cmd)
			return work(cmd, &w, args[0], cacheDir(noCache))
		},
	}
	cmd.Flags().IntVar(&w.Jobs, "jobs", 0, "number of parallel jobs (default one per core)")
	cmd.Flags().BoolVar(&noCache, "no-cache", false, "compile lock programs anew, and cache nothing")
	return cmd
}

// teller prints what pools and workers tell. Some of it comes from the Redis, or from another machine.
func teller(cmd *cobra.Command) func(line string) {
	return func(line string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", printable.Text(line, shownLine))
	}
}

// shownLine is how much of a line is shown that a pool or a worker tells, in bytes.
const shownLine = 1000

// work takes jobs. cache is where compiled lock programs are kept.
func work(cmd *cobra.Command, w *workers.Worker, address, cache string) (err error) {
	if w.Address, err = workers.ParseAddress(address); err != nil {
		return &failure{exitUsage, fmt.Errorf("the address: %w", err)}
	}
	if w.Build, err = build.Name(); err != nil {
		return wrap(err)
	}
	loader := programs.Loader{Cache: cache}
	w.Kinds = slices.Concat(random.Jobs(loader.Load), sweep.Jobs(loader.Load))
	workers.Quiet()
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	w.Tell(fmt.Sprintf("taking jobs of build %s at %v, %s at a time", w.Build, w.Address, plural.Count(w.Slots(), "job")))
	if err := w.Serve(ctx); err != nil {
		return &failure{exitUsage, err}
	}
	return nil
}

// workersFlag is --workers, of commands whose jobs others can do.
type workersFlag struct{ address string }

func (f *workersFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "workers", "", "let workers at this Redis make the runs")
}

// check says what else was given that workers cannot have.
func (f *workersFlag) check(jobs int) error {
	if f.address != "" && jobs != 0 {
		return &failure{exitUsage, errors.New("--jobs and --workers: each worker has its own --jobs")}
	}
	return nil
}

// open connects to the workers, if there are to be any; nil if not. lock is what they are to have in the place of the library.
func (f *workersFlag) open(cmd *cobra.Command, lock *scenarios.Foreign) (*workers.Pool, error) {
	if f.address == "" {
		return nil, nil
	}
	for _, file := range lock.Files() {
		if len(file.Bytes) > workers.MaxFile {
			return nil, &failure{exitUsage, fmt.Errorf("the lock program has %d bytes, and --workers takes no more than %d", len(file.Bytes), workers.MaxFile)}
		}
	}
	at, err := workers.ParseAddress(f.address)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--workers: %w", err)}
	}
	name, err := build.Name()
	if err != nil {
		return nil, wrap(err)
	}
	workers.Quiet()
	pool, err := workers.Open(cmd.Context(), at, name, teller(cmd))
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--workers: %w", err)}
	}
	return pool, nil
}
