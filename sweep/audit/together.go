package audit

import (
	"fmt"
	"slices"

	"redlocksim/adversary"
	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/kernel"
)

const (
	randomRuns        = 200
	randomRunsProgram = 20
)

// together has everything happen at once that is safe by itself: the worst schedules, and random ones. What breaks then is the
// library itself, or what the lines did not ask about.
func (x *auditing) together(a *Audit, runs int) (Assumption, error) {
	found := Assumption{Name: "all together", Verdict: Safe, Yours: "all that is safe", Limit: "any", ShownAt: "all that is safe"}
	writesInTime := a.verdictOf("pause") == Safe
	broken := func(r *scenarios.Result) (kinds scenarios.Findings) {
		for _, k := range r.Findings {
			effect := k != checker.LeaseOverlap && k != checker.TokenRegressed && k != checker.TokenRepeated
			if k.Violation() && !k.Monitored() && (writesInTime || !effect) {
				kinds = append(kinds, k)
			}
		}
		return kinds
	}
	attacks, _ := adversary.Find("clocks", "restart")
	o := scenarios.Options{Foreign: x.foreign}
	for _, attack := range attacks {
		out, err := attack.Run(&adversary.Settings{Scenario: x.world, Pause: x.world.Budget.Pause}, o)
		switch {
		case err != nil:
			return found, err
		case out.Broken != "":
			found.Verdict, found.Limit, found.Shown = Unsafe, "none", out.Result.Scenario
			found.Text = fmt.Sprintf("all that is safe by itself breaks the lock if it happens together: %s", out.Broken)
			return found, nil
		}
	}
	switch {
	case runs > 0:
	case x.foreign != nil:
		runs = randomRunsProgram
	default:
		runs = randomRuns
	}
	space := experiment.NewSpace(x.world)
	space.Own, space.Foreign = x.foreign != nil, x.foreign
	contended := 0
	var buffer history.History
	for i := range runs {
		if err := x.ctx.Err(); err != nil {
			return found, err
		}
		c := faults.Drawn{Key: kernel.Key(0).WithString("audit")}.For("run", i)
		seed := uint64(c.For("seed", 0).Below(1 << 53))
		drawn := space.Draw(c)
		o.Seed = seed
		trial, r, err := search.Try(drawn, o, &buffer)
		if err != nil {
			return found, err
		}
		if found.Shown == nil {
			found.Shown, found.seed = drawn, seed
		}
		if !trial.NotTested {
			contended++
		}
		if kinds := broken(r); trial.Within() && len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k checker.Kind) bool { return slices.Contains(trial.Excused, k) }) {
			found.Verdict, found.Limit, found.Shown, found.seed = Unsafe, "none", drawn, seed
			found.Text = fmt.Sprintf("random run %d of %d breaks the lock, though nothing happens in it that is not safe by itself: %s; the library is to blame, or what it is asked to do", i+1, runs, kinds)
			return found, nil
		}
	}
	if contended == 0 {
		found.Verdict, found.Text = NotTested, "not tested: in none of the random runs did two clients ask at once"
		return found, nil
	}
	found.Text = fmt.Sprintf("the worst schedules, with all that is safe by itself, and %d random runs do not break the lock", runs)
	return found, nil
}

// verdictOf is the verdict of a line; empty if there is none of that name.
func (a *Audit) verdictOf(name string) Verdict {
	for _, x := range a.Assumptions {
		if x.Name == name {
			return x.Verdict
		}
	}
	return ""
}
