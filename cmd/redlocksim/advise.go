package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/strictyaml"
	"redlocksim/sweep/advise"
)

// knownFlags are what a user may know, by the keys of a file.
var knownFlags = []struct{ key, usage string }{
	{"clock-error", "maximum rate error of any clock: 500ppm, 0.05% (default 500ppm)"},
	{"clock-step", "how far a node's wall clock can step: 100ms (default 0s)"},
	{"pause", "longest pause of a client between its last look at the clock and an effect: 800ms (default 0s)"},
	{"rtt", "round trip to a node: 2ms, or '{p50: 1ms, p99: 8ms, max: 20ms}' (default 1 to 10 ms)"},
	{"persistence", "when nodes fsync: none, everysec (every-second) or always (default none)"},
	{"power-loss", "whether nodes can lose power, and with it what was not fsynced: true or false (default true)"},
	{"nodes", "number of nodes (default 5)"},
	{"down", "how many nodes may be down at a time (default 1)"},
	{"memory-loss", "how many nodes may come back without their memory before the restart delay is over (default 0)"},
	{"ttl", "time to live of the locks: 10s"},
	{"work", "how long the work under a lock takes, to compute the TTL from: 4s"},
	{"node-timeout", "a node timeout shorter than the longest round trip; advise computes what it costs"},
}

const adviseHelp = `Compute the smallest safe drift allowance, restart delay, node timeout, quorum
and guard time from what you know about clocks, pauses, network and nodes. The
simulator tests each setting just above and just below its limit: with it the
lock survives the worst schedule, and with a millisecond, a millionth or a node
less it breaks. advise also reports what the settings cost in availability,
computed exactly and simulated, and what no setting can prevent. It prints the
settings as a YAML block for a scenario file and as options of the library.

FILE has the same keys as the flags, without the hyphens in front; flags take
precedence. One of ttl and work must be given. The settings are for one lock.
Several resources need no other settings: each is a lock of its own, and so are
all of them taken as one.

`

// adviseFlags are the flags of advise.
type adviseFlags struct {
	given  []string // in the order of knownFlags
	asJSON bool
}

func newAdvise() *cobra.Command {
	a := &adviseFlags{given: make([]string, len(knownFlags))}
	cmd := &cobra.Command{
		Use:   "advise [FILE]",
		Short: "Compute the smallest safe settings for your environment",
		Long: adviseHelp + exitcode.Help(exitcode.Specifics{
			exitOK:        "the simulator confirms the settings",
			exitSafety:    "the simulator contradicts a formula, so that one of them is wrong",
			exitUsage:     "also if no settings are safe",
			exitLiveness:  "the simulator contradicts the computed cost",
			exitNotTested: "an attack did not take place, so a setting is not confirmed",
		}),
		Example: `  redlocksim advise --ttl 10s
  redlocksim advise --work 4s --pause 800ms --clock-error 0.1% --rtt '{p50: 1ms, p99: 8ms, max: 20ms}'
  redlocksim advise --ttl 30s --nodes 7 --down 2 --memory-loss 1 --json
  redlocksim advise known.yaml --node-timeout 10ms`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.run,
	}
	for i, f := range knownFlags {
		cmd.Flags().StringVar(&a.given[i], f.key, "", f.usage)
	}
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "write the advice as JSON")
	return cmd
}

func (a *adviseFlags) run(cmd *cobra.Command, args []string) error {
	known, err := known(cmd, args, a.given)
	if err != nil {
		return &failure{exitUsage, err}
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	advice, err := advise.For(ctx, known)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case errors.As(err, new(*advise.InputError)):
		return &failure{exitUsage, err}
	case errors.Is(err, advise.ErrNotConfirmed):
		return &failure{exitSafety, err}
	case errors.Is(err, advise.ErrNotTested):
		return &failure{exitNotTested, err}
	case err != nil:
		return wrap(err)
	}
	write := advice.WriteText
	if a.asJSON {
		write = advice.WriteJSON
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return wrap(err)
	}
	if slices.ContainsFunc(advice.Costs, func(c advise.Cost) bool { return !c.Confirmed }) {
		return ending(exitLiveness)
	}
	return nil
}

// known is what the file says, if one is named, and the flags that are given.
func known(cmd *cobra.Command, files, given []string) (advise.Known, error) {
	k := advise.Default()
	for _, file := range files {
		data, err := strictyaml.ReadFile(file)
		if err == nil {
			err = advise.Parse(file, data, &k)
		}
		if err != nil {
			return k, err
		}
	}
	for i, f := range knownFlags {
		if !cmd.Flags().Changed(f.key) {
			continue
		}
		if err := advise.Set("--"+f.key, f.key, given[i], &k); err != nil {
			return k, err
		}
	}
	return k, nil
}
