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

// Options.Runs, if they are 0, of the library and of a lock program.
const (
	randomRuns        = 200
	randomRunsProgram = 20
)

// together has everything happen at once that is safe by itself: the worst schedules, and random ones. What breaks then is the
// library itself, or what the lines did not ask about.
func (x *auditing) together(a *Audit, runs int) (Assumption, error) {
	found := Assumption{Name: "all together", Verdict: Safe, Yours: "all that is safe", Limit: "any", ShownAt: "all that is safe"}
	if x.broken {
		found.Verdict, found.Limit, found.Text = NotTested, "", "not tested: the lock breaks even without that, see "+lostMessages.name
		return found, nil
	}
	if err := x.worst(&found); err != nil || found.Verdict != Safe {
		return found, err
	}
	switch {
	case runs > 0:
	case x.foreign != nil:
		runs = randomRunsProgram
	default:
		runs = randomRuns
	}
	return found, x.random(&found, runs, a.verdictOf("pause") == Safe)
}

// worst is the attacks with all that is safe at once.
func (x *auditing) worst(found *Assumption) error {
	names := []string{"clocks", "restart"}
	if x.world.Budget.MemoryLoss > 0 {
		names = append(names, "memory-loss")
	}
	attacks, _ := adversary.Find(names...)
	for _, attack := range attacks {
		out, err := attack.Run(&adversary.Settings{Scenario: x.world, Pause: x.world.Budget.Pause}, scenarios.Options{Foreign: x.foreign})
		switch {
		case err != nil:
			return err
		case out.Broken != "":
			found.Verdict, found.Limit, found.Shown = Unsafe, "none", out.Result.Scenario
			found.Text = fmt.Sprintf("all that is safe by itself breaks the lock if it happens together: %s", out.Broken)
			return nil
		case out.NotTested != "":
			found.Verdict, found.Shown = NotTested, nil
			found.Text = notTested(out.NotTested)
			return nil
		}
	}
	return nil
}

// random has clients and all that is safe do anything. Late writes count only if the line about pauses is safe: they are its
// business.
func (x *auditing) random(found *Assumption, runs int, effects bool) error {
	space := experiment.NewSpace(x.world)
	space.Own, space.Foreign = x.foreign != nil, x.foreign
	contended := 0
	var buffer history.History
	for i := range runs {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		c := faults.Drawn{Key: kernel.Key(0).WithString("audit")}.For("run", i)
		seed := uint64(c.For("seed", 0).Below(1 << 53))
		drawn := space.Draw(c)
		trial, r, err := search.Try(drawn, scenarios.Options{Seed: seed, Foreign: x.foreign}, &buffer)
		if err != nil {
			return err
		}
		if found.Shown == nil {
			found.Shown, found.seed = drawn, seed
		}
		if !trial.NotTested {
			contended++
		}
		if kinds := broken(r.Findings, trial.Excused, effects); len(kinds) > 0 {
			found.Verdict, found.Limit, found.Shown, found.seed = Unsafe, "none", drawn, seed
			found.Text = fmt.Sprintf("random run %d of %d breaks the lock (%s), though nothing happens in it that is not safe by itself: "+
				"the library is at fault, or the way in which that run uses it", i+1, runs, kinds)
			return nil
		}
	}
	if contended == 0 {
		found.Verdict, found.Text = NotTested, "not tested: in none of the random runs did two clients ask at once"
		return nil
	}
	found.Text = fmt.Sprintf("the worst schedules, with all that is safe by itself, and %d random runs do not break the lock", runs)
	return nil
}

// broken are the findings against mutual exclusion and, if they count, of late writes.
func broken(found scenarios.Findings, excused []checker.Kind, effects bool) (kinds scenarios.Findings) {
	always := []checker.Kind{checker.LeaseOverlap, checker.TokenRegressed, checker.TokenRepeated}
	for _, k := range found {
		if k.Violation() && !k.Monitored() && (effects || slices.Contains(always, k)) && !slices.Contains(excused, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
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
