package engine

import (
	"context"

	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// Tip is where a setting tips: what a run shows at each of its values, and where that changes.
type Tip struct {
	// Shown is "safe", "broken", "not tested" where nobody contended, or "invalid" where the lock takes no such value, for each
	// of the request's values.
	Shown []string `json:"shown"`
	// Tips are the values at which the lock breaks and at the one before it does not, or the other way round.
	Tips []string `json:"tips"`
}

// tips runs the scenario with each of some values for a setting.
func tips(ctx context.Context, q *Request) (any, error) {
	s, _, _, err := read(q)
	if err != nil {
		return nil, err
	}
	base, err := sweep.Whole(s)
	if err != nil {
		return nil, err
	}
	x := &Tip{Tips: []string{}}
	last := ""
	for _, word := range q.Values {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		shown := at(base, q, word)
		if shown == broken && last == scenarios.Safe || shown == scenarios.Safe && last == broken {
			x.Tips = append(x.Tips, word)
		}
		x.Shown, last = append(x.Shown, shown), shown
	}
	return x, nil
}

// What a run shows at a value, beside scenarios.Safe.
const (
	broken  = "broken"
	invalid = "invalid"
)

func at(base sweep.Base, q *Request, word string) string {
	changed, err := base.With(sweep.Setting{Path: q.Path, Word: word})
	if err != nil {
		return invalid
	}
	settings, err := changed.Settings()
	if err != nil {
		return invalid
	}
	r, err := scenarios.Judge(settings.Scenario, scenarios.Options{Seed: q.Seed, Unhashed: true})
	switch {
	case err != nil:
		return invalid
	case r.Defect() != nil:
		return broken
	case r.Report.NotTested() != "":
		return scenarios.NothingTested
	}
	return scenarios.Safe
}
