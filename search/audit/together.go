package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// Options.Runs, if they are 0, of the library and of a lock program.
const (
	randomRuns        = 200
	randomRunsProgram = 20
)

// together has everything happen at once that is safe by itself: the worst schedules, and random ones. What breaks then is the
// library itself, what the lines did not ask about, or assumptions that hold only one at a time.
func (x *auditing) together(found *Assumption, runs int) error {
	found.Verdict, found.Yours, found.Limit, found.ShownAt = Safe, "all that is safe", "any", "all that is safe"
	if x.broken {
		found.brokenAnyway()
		return nil
	}
	if runs == 0 {
		if runs = randomRuns; x.foreign != nil {
			runs = randomRunsProgram
		}
	}
	if err := x.worst(found); err != nil || found.Verdict != Safe {
		return err
	}
	return x.random(found, runs)
}

// worst is the attacks with all that is safe at once: those of the lines that are safe.
func (x *auditing) worst(found *Assumption) error {
	var names []string
	for _, l := range x.safe {
		names = append(names, l.schedules...)
	}
	missed := "" // since a run failed
	for _, attack := range attacks.All() {
		if !slices.Contains(names, attack.Name) || !attack.Exclusion() { // whether the lock is granted is asked by itself
			continue
		}
		out, err := x.inWorld(attack)
		switch {
		case err != nil:
			missed = cmp.Or(missed, x.note(err))
		case out.Broken != "":
			found.Verdict, found.Limit, found.broke = Unsafe, "none", out.Broken
			if err := x.keeps(found, out.Result.Scenario, 0); err != nil {
				return err
			}
			why, err := x.blame(attack)
			found.Text = fmt.Sprintf("what is safe by itself breaks the lock if it happens together, with %s: %s", out.Broken.Says(), why)
			return err
		case out.NotTested != "":
			found.Verdict, found.Shown = NotTested, nil
			found.Text = fmt.Sprintf("%s (schedule %s)", notTested(out.NotTested), attack.Name)
			return nil
		}
	}
	found.fails(missed)
	return nil
}

// fails has it be not tested, since a run failed, if one did.
func (a *Assumption) fails(why string) {
	if why != "" {
		a.Verdict, a.Limit, a.Shown, a.Text = NotTested, "unknown", nil, notTested(why)
	}
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

// random has clients and all that is safe do anything. Late writes count only if the line about pauses is safe, tokens only if
// that about them is, and clients extend only what they have if they must: these are the business of the lines.
func (x *auditing) random(found *Assumption, runs int) error {
	space := experiment.NewSpace(x.world)
	space.Own, space.Foreign = x.foreign != nil, x.foreign
	contended, missed := false, ""
	var buffer history.History
	for i := range runs {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		tested := false
		err := search.Safely(func() (err error) {
			tested, err = x.try(found, &space, i, &buffer)
			return err
		})
		switch {
		case found.Verdict == Unsafe:
			found.Text = fmt.Sprintf("random run %d of %d breaks the lock, with %s, though nothing happens in it that is not safe by itself: "+
				"the library is at fault, or assumptions hold only one at a time", i+1, runs, found.broke.Says())
			return err
		case err != nil:
			missed = cmp.Or(missed, x.note(err))
		}
		contended = contended || tested
	}
	found.Text = fmt.Sprintf("the worst schedules, with all that is safe by itself, and %d random runs do not break the lock", runs)
	if !contended {
		found.Verdict, found.Text = NotTested, "not tested: in none of the random runs did two clients ask at once"
	}
	found.fails(missed)
	return nil
}

// try makes a random run, and says whether clients met in it. One that breaks the lock decides.
func (x *auditing) try(found *Assumption, space *experiment.Space, number int, buffer *history.History) (tested bool, err error) {
	c := faults.Drawn{Key: kernel.Key(0).WithString("audit")}.For("run", number)
	seed := uint64(c.For("seed", 0).Below(1 << 53))
	drawn := space.Draw(c)
	x.restrain(drawn, x.answers.Settings.Lock.TTL)
	trial, r, err := search.Try(drawn, scenarios.Options{Seed: seed, Foreign: x.foreign}, buffer)
	if errors.Is(err, scenarios.ErrTooLong) { // as where clients ask again and again in a network that takes no time
		return false, nil
	}
	if err != nil {
		return false, err
	}
	broken := x.counted(r.Findings, trial.Excused)
	if len(broken) > 0 {
		found.Verdict, found.Limit, found.broke = Unsafe, "none", attacks.Broken(broken.String())
	}
	if tested = !trial.NotTested; len(broken) > 0 || found.Shown == nil && tested {
		err = x.keeps(found, drawn, seed)
	}
	return tested, err
}

// restrain has clients take no lock for less than the TTL that is audited, since an allowance for clocks is a part of it and
// that of a shorter one is smaller; and not do what lines that are unsafe say breaks the lock: extend it, or release it.
func (x *auditing) restrain(drawn *scenarios.Scenario, ttl time.Duration) {
	var kinds []scenarios.StepKind
	if slices.Contains(x.without, lateExtension) || slices.Contains(x.without, lostExtension) {
		kinds = append(kinds, scenarios.ExtendStep, scenarios.RenewStep)
	}
	if slices.Contains(x.without, lateRelease) {
		kinds = append(kinds, scenarios.UnlockStep)
	}
	for i := range drawn.Timeline {
		item := &drawn.Timeline[i]
		item.Do = slices.DeleteFunc(slices.Clone(item.Do), func(s scenarios.Step) bool { return slices.Contains(kinds, s.Kind) })
		for j := range item.Do {
			s := &item.Do[j]
			if s.TTL < ttl {
				s.TTL = 0 // which is that of the settings
			}
			if s.Kind == scenarios.ExtendStep {
				s.For = max(s.For, ttl)
			}
		}
	}
	drawn.Timeline = slices.DeleteFunc(drawn.Timeline, func(item scenarios.Item) bool { return item.Fault == nil && len(item.Do) == 0 })
}

// counted are the findings against mutual exclusion and, if they count, of late writes and tokens.
func (x *auditing) counted(found scenarios.Findings, excused []checker.Kind) (kinds scenarios.Findings) {
	for _, k := range found {
		counts := x.isSafe("pause")
		switch k {
		case checker.LeaseOverlap:
			counts = true
		case checker.TokenRegressed, checker.TokenRepeated:
			counts = !slices.ContainsFunc(x.without, func(l *line) bool { return l.name == "fencing tokens" })
		}
		if counts && k.Violation() && !k.Monitored() && !slices.Contains(excused, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
