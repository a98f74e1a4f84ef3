package systematic

import (
	"context"

	"redlocksim/checker"
	"redlocksim/search"
)

const (
	// maxFindings bounds how many classes of violations are shrunk, and shrinkRuns the runs that each takes.
	maxFindings = 40
	shrinkRuns  = 2000
)

// settle makes findings of the violations that count, first of those within the budget: however many there are beyond it,
// they are not left aside. What an error leaves is unshrunk.
func (x *explorer) settle(ctx context.Context) error {
	var within, beyond []*class
	for _, c := range x.classes {
		switch {
		case !c.beyond:
			within = append(within, c)
		case x.options.Beyond:
			beyond = append(beyond, c)
		}
	}
	counting := append(within, beyond...)
	for i, c := range counting {
		if f := x.explains(c.kind, c.families, c.beyond); f != nil {
			f.Times += c.times
			continue
		}
		if len(x.summary.Findings) == maxFindings || ctx.Err() != nil {
			x.summary.Unshrunk++
			continue
		}
		f, done, err := search.Violation{Scenario: x.base.place(c.placed), Seed: x.base.Seed, Kind: c.kind, Beyond: c.beyond}.Shrink(ctx, shrinkRuns)
		if err != nil {
			x.summary.Unshrunk += len(counting) - i
			return err
		}
		if !done {
			x.summary.Unshrunk++
			continue
		}
		f.Times = c.times
		if known := x.explains(f.Kind, f.Families, f.Beyond); known != nil {
			known.Times += f.Times
			continue
		}
		if err := f.Keep(len(x.summary.Findings)+1, x.options.Dir, x.options.Rules); err != nil {
			x.summary.Unshrunk += len(counting) - i
			return err
		}
		x.summary.Findings = append(x.summary.Findings, f)
	}
	return nil
}

// explains is the finding that violations are other instances of; nil if there is none.
func (x *explorer) explains(kind checker.Kind, families []string, beyond bool) *search.Finding {
	for i := range x.summary.Findings {
		if f := &x.summary.Findings[i]; f.Explains(kind, families, beyond) {
			return f
		}
	}
	return nil
}
