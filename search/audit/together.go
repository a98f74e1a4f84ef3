package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlocksim/search/attacks"
)

// together has everything happen at once that is safe by itself: the worst schedules of the lines that are safe. What breaks
// then are assumptions that hold only one at a time.
func (x *auditing) together(found *Assumption) error {
	found.Yours, found.ShownAt = "all that is safe", "all that is safe"
	if x.broken {
		found.brokenAnyway()
		return nil
	}
	var names []string
	for _, l := range x.safe {
		names = append(names, l.schedules...)
	}
	missed := ""
	for _, attack := range attacks.All() {
		if !slices.Contains(names, attack.Name) || !attack.Exclusion() { // whether the lock is granted is asked by itself
			continue
		}
		out, err := x.inWorld(attack)
		switch {
		case err != nil:
			missed = cmp.Or(missed, x.note(err))
		case out.Broken != "":
			found.Verdict, found.Limit, found.broke, found.Fix = Unsafe, "none", out.Broken, "none known"
			if err := x.keeps(found, out.Result.Scenario); err != nil {
				return err
			}
			why, err := x.blame(attack)
			found.Text = fmt.Sprintf("what is safe by itself breaks the lock if it happens together, with %s: %s", out.Broken.Says(), why)
			return err
		case out.NotTested != "":
			missed = cmp.Or(missed, fmt.Sprintf("%s (schedule %s)", reason(out.NotTested), attack.Name))
		case found.Shown == nil:
			if err := x.keeps(found, out.Result.Scenario); err != nil {
				return err
			}
		}
	}
	if found.Shown == nil {
		missed = cmp.Or(missed, "nothing is safe by itself")
	}
	if found.Verdict, found.Limit, found.Text = Safe, "any", "the worst schedules, with all that is safe by itself, do not break the lock"; missed != "" {
		found.Verdict, found.Limit, found.Shown, found.Text = NotTested, "unknown", nil, notTested(missed)
	}
	return nil
}

// inWorld makes an attack with all that is safe.
func (x *auditing) inWorld(attack attacks.Attack) (attacks.Outcome, error) {
	return x.run(attack, &attacks.Settings{Scenario: x.world, Pause: x.world.Budget.Pause})
}

// blame says which assumptions an attack takes: leaving any of them out stops it.
func (x *auditing) blame(attack attacks.Attack) (string, error) {
	var needed []string
	for _, left := range x.safe {
		if left.lasting == nil {
			continue
		}
		y := auditing{answers: x.answers, foreign: x.foreign, world: calm(x.answers.Settings)}
		for _, l := range x.safe {
			if l != left {
				y.holds(l)
			}
		}
		out, err := y.inWorld(attack)
		if err != nil {
			return "", err
		}
		if out.Broken == "" {
			needed = append(needed, left.name)
		}
	}
	if needed == nil {
		return "any one of the assumptions can be left out, and it still breaks", nil
	}
	return "it takes " + strings.Join(needed, " and "), nil
}
