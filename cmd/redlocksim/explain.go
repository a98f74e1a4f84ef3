package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"redlocksim/explain"
	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// confirming is by how many further seeds a change that prevents something is confirmed.
const confirming = 4

const explainHelp = `Explain a scenario: what it is about, what happened, why each rule of the
checker holds or not, and what would have prevented the violation. The remedies
are found by trying them: fencing tokens, the restart guard, clients that stop
in time, nodes that stay down longer, a larger drift allowance, quorum or time
to live, and every other value of every setting. If no single change helps,
pairs are tried. A remedy must work on five seeds, and on tier wire.

--write saves the scenario with one of the remedies as a file that expects the
new verdict; --variant picks the remedy by its number in the list. An input is
never replaced, and any other file that is not empty only with --force.

`

// explainFlags are the flags of explain.
type explainFlags struct {
	only, path  string
	seed        uint64
	variant     int
	full, force bool
}

func newExplain() *cobra.Command {
	e := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain NAME|FILE",
		Short: "Explain a verdict, and what would have prevented it",
		Long:  explainHelp + exitcode.Help(exitcode.Specifics{exitOK: "the verdict is explained"}),
		Example: `  redlocksim explain 24-restart-at-once/one-of-three
  redlocksim explain ours.yaml --variant 2 --write ours-mended.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: e.run,
	}
	f := cmd.Flags()
	f.StringVar(&e.only, "case", "", "explain only this case")
	f.Uint64Var(&e.seed, "seed", 0, "random seed (default 0, or the seed that the file was recorded with)")
	f.StringVar(&e.path, "write", "", "write the scenario with a remedy to this file (- for standard output, and nothing else)")
	f.IntVar(&e.variant, "variant", 1, "which remedy to write, by its number in the list")
	f.BoolVar(&e.force, "force", false, "replace an existing file; never replaces an input")
	f.BoolVar(&e.full, "full", false, "print the whole story, however long")
	return cmd
}

func (e *explainFlags) run(cmd *cobra.Command, args []string) error {
	s, isFile, err := findOne(args[0], e.only)
	if err != nil {
		return err
	}
	command := "redlocksim explain " + named(args[0], isFile, s)
	asked := askedSeed(cmd, &e.seed)
	if asked != nil {
		command += fmt.Sprintf(" --seed %d", *asked)
	}
	to := newSink(cmd, e.force, args...)
	if err := to.check(file("--write", e.path)); err != nil {
		return err
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	bar := newTicker(cmd.ErrOrStderr(), 0)
	x, err := explain.Of(ctx, s, explain.Options{Seed: s.Seed(asked), Confirm: confirming, Progress: bar.at})
	bar.done()
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case err != nil:
		return wrap(err)
	}
	if e.path != "" {
		if err := writeVariant(&to, x, e.variant, e.path); err != nil || e.path == "-" {
			return err
		}
	}
	out := cmd.OutOrStdout()
	return wrap(reports.Explain(fitted(out), x, command, scenarios.Catalogue(), e.full, lookOf(out)))
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
		return &failure{exitUsage, fmt.Errorf("--write: nothing that was tried prevents this: %s", x.Wrong)}
	case variant > len(prevents):
		return &failure{exitUsage, fmt.Errorf("--variant %d: must be from 1 to %d", variant, len(prevents))}
	}
	t := prevents[variant-1]
	text, err := t.Scenario.Encode()
	if err != nil {
		return wrap(err)
	}
	text = append([]byte(fmt.Sprintf("# %s, with %s.\n", x.Result.Scenario.Name, t.What)), text...)
	return to.put(file("--write", path), text)
}
