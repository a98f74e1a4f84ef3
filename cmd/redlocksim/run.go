package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
)

func newRun() *cobra.Command {
	var tier, only string
	files := outputs{fileReports: fileReportsOf(runReports)}
	var seed uint64
	var trace, full, force bool
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run one scenario and tell what happened",
		Long: `Run one scenario, embedded or from a file, and tell what happened. The report
has a numbered story, the verdict, the intervals in which two clients held the
lock at once, the hashes of the run, and the command that repeats it. Each run
is done twice, and both must come out the same. A name without a case stands for
all cases of the scenario.

--tier live runs the scenario once, on redis-server processes behind fault
proxies, five times as fast. Live runs are not deterministic: --seed and --trace
have no effect, and expected durations are not checked.

--html, --svg and --timeline draw the run, with a lane for each client and node.
The drawing shows when a client believed it held the lock, when a quorum of
nodes granted it, and when the client acted. It shows messages, lost ones too,
the faults, and the intervals in which two clients held the lock at once. The
HTML page steps through the story with the arrow keys, and shows what the nodes
store at the cursor. It is a single self-contained file, and the same run always
gives the same page. --porcupine writes the visualization of porcupine, which
gives the checker's second opinion. "-" writes to standard output; the report
then goes to standard error.

` + keepsFiles + `

` + exitcode.HelpOnAll(),
		Example: `  redlocksim run 17-clock-jump
  redlocksim run 24-restart-at-once/one-of-three --tier wire --seed 7
  redlocksim run my-settings.yaml
  redlocksim run 17-clock-jump --timeline
  redlocksim run 32-pause-before-write --html pause.html --svg pause.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			on, err := tiers(tier, scenarios.Model)
			if err != nil {
				return err
			}
			found, isFile, err := find(args[0])
			if err == nil && only != "" {
				found, err = pick(found, only)
			}
			if err != nil {
				return err
			}
			files.sink = newSink(cmd, force, args...)
			if err := files.check(args[0], len(found)); err != nil {
				return err
			}
			if on[0] == scenarios.Live {
				return runOnLive(cmd, found, &files, args[0], isFile, full)
			}
			out := files.report(cmd)
			var results []*scenarios.Result
			for i, s := range found {
				if i > 0 {
					fmt.Fprintln(out)
				}
				o := scenarios.Options{Tier: on[0], Seed: seed}
				if s.Recorded != nil && !cmd.Flags().Changed("seed") {
					o.Seed = s.Recorded.Seed
				}
				if trace {
					o.Trace = func(t kernel.TraceStep) { fmt.Fprintln(out, t) }
				}
				r, err := scenarios.Verify(s, o)
				if err != nil {
					return wrap(err)
				}
				if trace {
					fmt.Fprintln(out)
				}
				repeat := repeatCommand(args[0], isFile, r)
				if err := reports.Run(out, r, repeat, full); err != nil {
					return &failure{exitInternal, err}
				}
				results = append(results, r)
				if err := files.write(cmd, r, repeat); err != nil {
					return err
				}
			}
			if code := verdictCode(results...); code != exitOK {
				return &failure{code: code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&tier, "tier", "", "model (Redis semantics in Go), wire (go-redis and miniredis) or live (redis-server processes) (default model)")
	files.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&files.timeline, "timeline", false, "print the timeline as text, as wide as the terminal or 80 columns")
	cmd.Flags().StringVar(&only, "case", "", "run only this case")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed (default 0, or the seed that the file was recorded with)")
	cmd.Flags().BoolVar(&trace, "trace", false, "print every simulator step first")
	addForce(cmd.Flags(), &force)
	cmd.Flags().BoolVar(&full, "full", false, "print the whole story, however long")
	return cmd
}
