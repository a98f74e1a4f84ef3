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
	{"clock-error", "how wrong the rate of any clock can be: 500ppm, 0.05%; 500ppm unless given"},
	{"clock-step", "how far a node's wall clock can step: 100ms; 0s unless given"},
	{"pause", "the longest pause of a client between its last look at the clock and an effect: 800ms; 0s unless given"},
	{"rtt", "the round trip to a node: 2ms, or '{p50: 1ms, p99: 8ms, max: 20ms}'; 1 to 10 ms unless given"},
	{"persistence", "what nodes write to disk: none, everysec (every-second) or always; none unless given"},
	{"power-loss", "whether nodes can lose power, which costs what was not fsynced: true or false; true unless given"},
	{"nodes", "how many nodes there are; 5 unless given"},
	{"down", "how many of them may be down at a time; 1 unless given"},
	{"memory-loss", "how many may come back without their memory before the restart delay is over; 0 unless given"},
	{"ttl", "the time to live of locks: 10s"},
	{"work", "how long the work under a lock takes, from which the TTL follows: 4s"},
	{"node-timeout", "a node timeout that is shorter than the longest round trip; what it costs is computed"},
}

func newAdvise() *cobra.Command {
	var asJSON bool
	given := make([]string, len(knownFlags))
	cmd := &cobra.Command{
		Use:   "advise [FILE]",
		Short: "Compute the smallest safe settings from what is known of clocks, pauses, network and nodes",
		Long: `Compute the smallest safe drift allowance, restart delay, node timeout, quorum
and guard time from what is known. Each is confirmed in the simulator on both
sides: with it the worst schedule fails, and with a millisecond, a millionth or
a node less it breaks the lock. With what they cost in availability, computed
exactly and simulated; with what no setting can mend; and as a YAML block for a
scenario file and as options of the library.

A file has the keys of the flags, without the hyphens in front; flags go over it.
One of ttl and work must be given. The settings are those of one lock. Several
resources are locks of their own and take the same settings, each by itself and
as one lock: there is nothing to say about them.

` + exitcode.Help(exitcode.Specifics{exitOK: "the settings are confirmed", exitSafety: "the simulator contradicts a formula: one of them is wrong",
			exitUsage: "also if there are no such settings", exitLiveness: "the simulator contradicts what the settings cost",
			exitNotTested: "an attack, so that a setting is not confirmed"}),
		Example: `  redlocksim advise --ttl 10s
  redlocksim advise --work 4s --pause 800ms --clock-error 0.1% --rtt '{p50: 1ms, p99: 8ms, max: 20ms}'
  redlocksim advise --ttl 30s --nodes 7 --down 2 --memory-loss 1 --json
  redlocksim advise known.yaml --node-timeout 10ms`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			known := advise.Default()
			if len(args) == 1 {
				data, err := strictyaml.ReadFile(args[0])
				if err == nil {
					err = advise.Parse(args[0], data, &known)
				}
				if err != nil {
					return &failure{exitUsage, err}
				}
			}
			for i, f := range knownFlags {
				if !cmd.Flags().Changed(f.key) {
					continue
				}
				if err := advise.Set("--"+f.key, f.key, given[i], &known); err != nil {
					return &failure{exitUsage, err}
				}
			}
			a, err := advise.For(cmd.Context(), known)
			switch {
			case errors.As(err, new(*advise.InputError)):
				return &failure{exitUsage, err}
			case errors.Is(err, advise.ErrNotConfirmed):
				return &failure{exitSafety, err}
			case errors.Is(err, advise.ErrNotTested):
				return &failure{exitNotTested, err}
			case err != nil:
				return wrap(err)
			}
			write := a.WriteText
			if asJSON {
				write = a.WriteJSON
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return &failure{exitInternal, err}
			}
			if slices.ContainsFunc(a.Costs, func(c advise.Cost) bool { return !c.Confirmed }) {
				return &failure{code: exitLiveness}
			}
			return nil
		},
	}
	for i, f := range knownFlags {
		cmd.Flags().StringVar(&given[i], f.key, "", f.usage)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the advice as JSON")
	return cmd
}
