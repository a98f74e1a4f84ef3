package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/plural"
	"redlocksim/internal/workers"
	"redlocksim/search/random"
	"redlocksim/sweep"
)

const workHelp = `Do the jobs of searches and sweeps that were started with --workers and the
same address, here and on any number of machines. Workers can come and go: the
jobs of one that is lost are given to another. Press Ctrl-C to end this one.

A worker takes the jobs of its own build only, since results depend on it.

The address is redis://[USER@]HOST[:PORT][/DATABASE][?prefix=PREFIX], rediss://
with TLS. The password comes from ` + workers.PasswordVariable + `, or from the
file that ` + workers.PasswordFileVariable + ` names.

`

func newWork() *cobra.Command {
	w := workers.Worker{}
	cmd := &cobra.Command{
		Use:   "work ADDRESS",
		Short: "Do the jobs of searches and sweeps elsewhere",
		Long: workHelp + exitcode.Help(exitcode.Specifics{
			exitOK:    "it was ended with Ctrl-C",
			exitUsage: "also if the Redis cannot be reached",
		}),
		Example: `  redlocksim work redis://jobs.example.com
  redlocksim work rediss://search@jobs.example.com:6380/1?prefix=ci- --jobs 4`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Tell = func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", line) }
			return work(cmd, &w, args[0])
		},
	}
	cmd.Flags().IntVar(&w.Jobs, "jobs", 0, "number of parallel jobs (default one per core)")
	return cmd
}

func work(cmd *cobra.Command, w *workers.Worker, address string) (err error) {
	if w.Address, err = workers.ParseAddress(address); err != nil {
		return &failure{exitUsage, fmt.Errorf("the address: %w", err)}
	}
	if w.Build, err = workers.Build(); err != nil {
		return wrap(err)
	}
	w.Kinds = append(random.Jobs(), sweep.Jobs()...)
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
func (f *workersFlag) check(lock bool, jobs int) error {
	switch {
	case f.address == "":
		return nil
	case lock:
		return &failure{exitUsage, errors.New("--lock: workers do not have the lock program: leave --workers out")}
	case jobs != 0:
		return &failure{exitUsage, errors.New("--jobs and --workers: each worker has its own --jobs")}
	}
	return nil
}

// open connects to the workers, if there are to be any; nil if not.
func (f *workersFlag) open(cmd *cobra.Command) (*workers.Pool, error) {
	if f.address == "" {
		return nil, nil
	}
	at, err := workers.ParseAddress(f.address)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--workers: %w", err)}
	}
	build, err := workers.Build()
	if err != nil {
		return nil, wrap(err)
	}
	workers.Quiet()
	pool, err := workers.Open(cmd.Context(), at, build, func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s\n", line) })
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--workers: %w", err)}
	}
	return pool, nil
}
