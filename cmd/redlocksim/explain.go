package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"redlocksim/explain"
	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// confirming is by how many further seeds a change that prevents something is confirmed.
const confirming = 4

func newExplain() *cobra.Command {
	var only, path string
	var seed uint64
	var variant int
	var full, force bool
	cmd := &cobra.Command{
		Use:   "explain NAME|FILE",
		Short: "Explain a verdict, and what would have prevented it",
		Long: `Explain a scenario: what it is about, what happened, why each rule of the
checker holds or not, and what would have prevented the violation. The remedies
are found by trying them: fencing tokens, the restart guard, clients that stop
in time, nodes that stay down longer, a larger drift allowance, quorum or time
to live, and every other value of every setting. If no single change helps,
pairs are tried. A remedy must work on five seeds, and on tier wire.

--write saves the scenario with one of the remedies as a file that expects the
new verdict; --variant picks the remedy by its number in the list. An input is
never replaced, and any other file that is not empty only with --force.

` + exitcode.Help(exitcode.Specifics{exitOK: "the verdict is explained"}),
		Example: `  redlocksim explain 24-restart-at-once/one-of-three
  redlocksim explain ours.yaml --variant 2 --write ours-mended.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, command, err := toExplain(args[0], only)
			if err != nil {
				return err
			}
			if s.Recorded != nil && !cmd.Flags().Changed("seed") {
				seed = s.Recorded.Seed
			}
			if cmd.Flags().Changed("seed") {
				command += fmt.Sprintf(" --seed %d", seed)
			}
			to := newSink(cmd, force, args...)
			if err := to.check(file("--write", path)); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			bar := newTicker(cmd.ErrOrStderr(), 0)
			x, err := explain.Of(ctx, s, explain.Options{Seed: seed, Confirm: confirming, Progress: bar.at})
			bar.done()
			switch {
			case ctx.Err() != nil:
				return &failure{exitUsage, errors.New("interrupted")}
			case err != nil:
				return wrap(err)
			}
			if path != "" {
				if err := writeVariant(&to, x, variant, path); err != nil || path == "-" {
					return err
				}
			}
			out := cmd.OutOrStdout()
			if err := reports.Explain(out, x, command, scenarios.Catalogue(), full, lookOf(out)); err != nil {
				return &failure{exitInternal, err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&only, "case", "", "explain only this case")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed (default 0, or the seed that the file was recorded with)")
	cmd.Flags().StringVar(&path, "write", "", "write the scenario with a remedy to this file (- for standard output, and nothing else)")
	cmd.Flags().IntVar(&variant, "variant", 1, "which remedy to write, by its number in the list")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file; never replaces an input")
	cmd.Flags().BoolVar(&full, "full", false, "print the whole story, however long")
	return cmd
}

// toExplain is the scenario that the arguments name, and the command that explains it.
func toExplain(arg, only string) (*scenarios.Scenario, string, error) {
	found, isFile, err := find(arg)
	if err == nil && only != "" {
		found, err = pick(found, only)
	}
	if err != nil {
		return nil, "", err
	}
	if len(found) > 1 {
		var names []string
		for _, s := range found {
			names = append(names, caseOf(s))
		}
		return nil, "", &failure{exitUsage, fmt.Errorf("%s has %d cases, choose one with --case: %s", arg, len(found), strings.Join(names, ", "))}
	}
	s := found[0]
	if !isFile {
		return s, "redlocksim explain " + s.Name, nil
	}
	command := "redlocksim explain " + quoted(arg)
	if of := caseOf(s); of != "" {
		command += " --case " + of
	}
	return s, command, nil
}

// writeVariant writes the scenario with a change that prevents what went wrong.
func writeVariant(to *sink, x *explain.Explanation, variant int, path string) error {
	var prevents []explain.Tried
	for _, t := range x.Tried {
		if t.Status == explain.Prevents {
			prevents = append(prevents, t)
		}
	}
	switch {
	case x.Wrong == "":
		return &failure{exitUsage, errors.New("--write: nothing is wrong, so there is nothing to prevent")}
	case len(prevents) == 0:
		return &failure{exitUsage, fmt.Errorf("--write: nothing that was tried prevents the %s", x.Wrong)}
	case variant < 1 || variant > len(prevents):
		return &failure{exitUsage, fmt.Errorf("--variant %d: must be from 1 to %d", variant, len(prevents))}
	}
	t := prevents[variant-1]
	text, err := t.Scenario.Encode()
	if err != nil {
		return &failure{exitInternal, fmt.Errorf("internal error: %w", err)}
	}
	text = append([]byte(fmt.Sprintf("# %s, with %s.\n", x.Result.Scenario.Name, t.What)), text...)
	return to.put(file("--write", path), text)
}
