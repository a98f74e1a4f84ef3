package engine

import (
	"context"
	"slices"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
)

// Tip is where a setting tips: what a run shows at each of its values, and where that changes.
type Tip struct {
	// Shown is what shows says for each of the request's values, or "invalid" where the lock takes no such value.
	Shown []string `json:"shown"`
	// Tips are the values at which the lock breaks and at the one before it does not, or the other way round.
	Tips []string `json:"tips"`
	// Note is that as a sentence.
	Note string `json:"note"`
}

// mostTips is how many of a setting's tips its note tells.
const mostTips = 3

// note says where a setting tips, or else what all of its values show.
func (t *Tip) note(values []string) string {
	var parts []string
	for _, word := range t.Tips[:min(mostTips, len(t.Tips))] {
		verb := "holds"
		if t.Shown[slices.Index(values, word)] == broken {
			verb = "breaks"
		}
		parts = append(parts, verb+" from about "+word)
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	for _, shown := range t.Shown {
		if shown != invalid && !slices.Contains(parts, shown) {
			parts = append(parts, shown)
		}
	}
	if len(parts) == 0 {
		parts = []string{"not allowed"}
	}
	return strings.Join(parts, " or ") + " at all values"
}

// tips runs the scenario with each of some values for a setting.
func tips(ctx context.Context, q *Request) (any, error) {
	s, _, _, err := read(q)
	if err != nil {
		return nil, err
	}
	base, err := variant.Of(s)
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
	x.Note = x.note(q.Values)
	return x, nil
}

// invalid is what a run shows at a value that the lock does not take, beside what shows says.
const invalid = "invalid"

func at(base variant.File, q *Request, word string) string {
	changed, err := base.With(variant.Setting{Path: q.Path, Word: word})
	if err != nil {
		return invalid
	}
	s, err := changed.Scenario()
	if err != nil {
		return invalid
	}
	r, err := verdict.Judge(s, scenarios.Options{Seed: q.Seed, Unhashed: true})
	if err != nil {
		return invalid
	}
	return shows(r)
}
