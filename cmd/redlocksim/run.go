package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

func newRun() *cobra.Command {
	var tier, only string
	var files outputs
	var seed uint64
	var trace, full, force bool
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run one scenario and tell what happened",
		Long: `Run one scenario, embedded or from a file, and tell what happened as a numbered
story, with the verdict, the windows of true time in which two clients held the
lock together, the hashes of the run and the command that repeats it. Every run
is made twice and compared. A name without a case stands for all its cases.

On tier live the same scenario is run once, by redis-server processes, fault
proxies and client processes, five times as fast. Seed and trace mean nothing
there, and durations are not compared with what is expected.

The options --html, --svg and --timeline draw the run: a lane for each client and
node, with the times in which a client believed it had the lock, in which a quorum
of nodes granted it, and in which it acted; messages, lost ones too; what went
wrong; and the time in which two clients held the lock together. The page of --html
steps through the story (arrow keys) and tells what the nodes keep at the cursor. It
is one file that needs nothing else, and is the same for the same run every time.
With --porcupine the checker's second opinion, porcupine, shows its own picture of
the holds that it was asked about. "-" is standard output, and the report then goes
to standard error.

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
					o.Trace = func(t sim.TraceStep) { fmt.Fprintln(out, t) }
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
	cmd.Flags().StringVar(&tier, "tier", "", "model (Redis semantics in Go), wire (go-redis and miniredis) or live (redis-server processes); model unless given")
	cmd.Flags().StringVar(&files.history, "history", "", "write the history to this file, as JSON Lines; redlocksim check judges it")
	cmd.Flags().StringVar(&files.html, "html", "", "write the timeline to this file, as a page to look around in")
	cmd.Flags().StringVar(&files.svg, "svg", "", "write the timeline to this file, as a picture for documents")
	cmd.Flags().BoolVar(&files.timeline, "timeline", false, "print the timeline as text, as wide as the terminal; 80 characters where there is none")
	cmd.Flags().StringVar(&files.porcupine, "porcupine", "", "write porcupine's visualisation of the holds to this file, as a page")
	cmd.Flags().StringVar(&only, "case", "", "only the case of this name")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "the seed of all random choices; 0 unless given, or what the file was recorded with")
	cmd.Flags().BoolVar(&trace, "trace", false, "print every step of the simulator first")
	addForce(cmd.Flags(), &force)
	cmd.Flags().BoolVar(&full, "full", false, "tell the whole story, however long")
	return cmd
}
