package systematic

import (
	"context"
	"slices"

	"redlocksim/search"
	"redlocksim/search/shrink"
)

const (
	// maxFindings bounds how many classes of violations are shrunk, and shrinkRuns the runs that each takes.
	maxFindings = 40
	shrinkRuns  = 2000
)

// settle makes findings of the violations that count, those within the budget first. After an error the rest is unshrunk.
func (x *explorer) settle(ctx context.Context) error {
	counting := slices.DeleteFunc(x.classes, func(c *class) bool { return c.Beyond && !x.options.Beyond })
	search.WithinFirst(counting, func(c *class) bool { return c.Beyond })
	known := &x.summary.Findings
	for i, c := range counting {
		if n := known.Explain(c.Shown); n != 0 {
			(*known)[n-1].Times += c.times
			continue
		}
		if len(*known) == maxFindings || ctx.Err() != nil {
			x.summary.Unshrunk++
			continue
		}
		v := search.Violation{Scenario: x.base.place(c.placed), Seed: x.base.seed, Kind: c.Kind, Beyond: c.Beyond, Despite: c.Despite}
		f, done, err := shrink.Finding(ctx, v, shrinkRuns)
		if err == nil && !done {
			x.summary.Unshrunk++
			continue
		}
		if err == nil {
			f.Times = c.times
			err = known.Add(f, x.options.Dir, x.options.Rules)
		}
		if err != nil {
			x.summary.Unshrunk += len(counting) - i
			return err
		}
	}
	return nil
}
