package systematic

import (
	"cmp"
	"context"
	"errors"
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
		var failed []error
		v := search.Violation{Scenario: x.base.place(c.placed), Seed: x.base.seed, Kind: c.Kind, Beyond: c.Beyond, Despite: c.Despite,
			Failed: func(err error) { failed = append(failed, err) }}
		var f search.Finding
		done := false
		err := search.Safely(func() (err error) {
			f, done, err = shrink.Finding(ctx, v, cmp.Or(x.options.runsToShrink, shrinkRuns))
			return err
		})
		if err != nil {
			failed = append(failed, err)
		}
		err = nil
		for _, one := range failed {
			err = errors.Join(err, x.summary.Failures.Note(search.NewFailure(v.Scenario, v.Seed, 0, one), x.options.Dir, x.options.Rules))
		}
		if err == nil && done {
			f.Times = c.times
			err = known.Add(f, x.options.Dir, x.options.Rules)
		} else {
			x.summary.Unshrunk++
		}
		if err != nil {
			x.summary.Unshrunk += len(counting) - i - 1
			return err
		}
	}
	return nil
}
