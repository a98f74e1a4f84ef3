// Package why finds out what would have prevented a violation. It changes one thing at a time, as package remedies has it or a
// word of a setting, and runs the scenario again to see whether the lock still breaks.
package why

import (
	"cmp"
	"context"
	"slices"

	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
)

// Options say how to look. The zero value has no confirmation by other seeds.
type Options struct {
	// Confirm is how many further seeds a change must hold for.
	Confirm int
	// Progress, if not nil, is called with how many of all changes have been tried.
	Progress func(done, all int)
}

// Explanation is what was found out.
type Explanation struct {
	// Result is the run that is explained.
	Result *verdict.Result
	// Wrong is what is wrong in it, in words: a violation of mutual exclusion, somebody who is kept from the lock without need,
	// keys that are left behind, or a lock that nobody can get. If it is empty, nothing is tried.
	Wrong string
	Rules []Rule
	// Tried are the changes that made a difference, those that prevent it first. Without is how many made none: the run was the
	// same to the last event.
	Tried   []Tried
	Without int

	files []string // of what was tried, after the kind of change
}

// Of explains a run on tier model of the library. The error is an internal one, or that of the context.
func Of(ctx context.Context, r *verdict.Result, o Options) (*Explanation, error) {
	var err error
	x := &Explanation{Result: r, Wrong: wrong(r)}
	if x.Rules, err = rulesOf(r); err != nil || x.Wrong == "" {
		return x, err
	}
	base, err := variant.Of(r.Scenario)
	if err != nil {
		return nil, err
	}
	all := changes(r.Scenario)
	for i, c := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := x.try(base, c, o)
		if err != nil {
			return nil, err
		}
		switch {
		case t == nil:
		case t.same:
			x.Without++
		default:
			x.Tried = append(x.Tried, *t)
		}
		if o.Progress != nil {
			o.Progress(i+1, len(all))
		}
	}
	slices.SortStableFunc(x.Tried, func(a, b Tried) int { return cmp.Compare(a.Status, b.Status) })
	return x, nil
}
