package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/reports/why"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// whyFlags ask what would have prevented what is wrong in a run.
type whyFlags struct {
	asked   bool
	variant int
}

func (f *whyFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.asked, "why", false, "say why each rule holds or not, and what would have prevented a violation")
	flags.IntVar(&f.variant, "variant", 1, "which remedy --write writes, by its number in the list of --why")
}

// check refuses what --why cannot explain.
func (f *whyFlags) check(on scenarios.Tier) error {
	if f.asked && on != scenarios.Model {
		return &failure{exitUsage, errors.New("--why tries changes in the simulator, with the library: leave --tier and --lock out")}
	}
	return nil
}

// confirming is by how many further seeds a change that prevents something is confirmed.
const confirming = 4

// explain tries what would have prevented what is wrong in a run; nil if nobody asked.
func (f *whyFlags) explain(cmd *cobra.Command, r *verdict.Result) (*why.Explanation, error) {
	if !f.asked {
		return nil, nil
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	bar := newTicker(cmd.ErrOrStderr(), 0)
	x, err := why.Of(ctx, r, why.Options{Confirm: confirming, Progress: bar.at})
	bar.done()
	if ctx.Err() != nil {
		return nil, interrupted()
	}
	return x, wrap(err)
}

// writeVariant writes the scenario with a change that prevents what went wrong.
func writeVariant(w io.Writer, j *judged) error {
	var prevents []why.Tried
	for _, t := range j.why.Tried {
		if t.Status == why.Prevents {
			prevents = append(prevents, t)
		}
	}
	switch {
	case j.why.Wrong == "":
		return &failure{exitUsage, errors.New("nothing is wrong, so there is nothing to prevent")}
	case len(prevents) == 0:
		return &failure{exitUsage, fmt.Errorf("nothing that was tried prevents this: %s", j.why.Wrong)}
	case j.variant > len(prevents):
		return &failure{exitUsage, fmt.Errorf("--variant %d: must be from 1 to %d", j.variant, len(prevents))}
	}
	t := prevents[j.variant-1]
	text, err := t.Scenario.Encode()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "# %s, with this change: %s.\n%s", j.Scenario.Name, t.What(), text)
	return err
}
