package engine

import (
	"context"

	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// Tip is where a setting tips: what a run shows at each of its values, and where that changes.
type Tip struct {
	// Shown is what shows says for each of the request's values, or "invalid" where the lock takes no such value.
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

// invalid is what a run shows at a value that the lock does not take, beside what shows says.
const invalid = "invalid"

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
	if err != nil {
		return invalid
	}
	return shows(r)
}
