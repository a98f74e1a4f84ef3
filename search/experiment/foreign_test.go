package experiment

import (
	"errors"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
)

// A program is asked only for what it can do: to extend a lease if it extends them, and to work up to the end of a lease if it
// does not say itself when that comes.
func TestWhatAProgramCanDo(t *testing.T) {
	for _, unable := range [][]scenarios.StepKind{nil, {scenarios.LingerStep}, {scenarios.ExtendStep, scenarios.RenewStep}} {
		f := scenarios.Foreign{Unable: func(s *scenarios.Scenario) error {
			for _, item := range s.Timeline {
				for _, step := range item.Do {
					if slices.Contains(unable, step.Kind) {
						return errors.New("it cannot")
					}
				}
			}
			return nil
		}}
		base := DefaultBase()
		base.Budget.Pause = time.Second
		s := NewSpace(base)
		s.Own, s.Foreign, s.Strays = true, &f, false
		steps := map[scenarios.StepKind]int{}
		for seed := range uint64(300) {
			for _, item := range (Candidate{Seed: seed}).Scenario(s).Timeline {
				for _, step := range item.Do {
					steps[step.Kind]++
				}
			}
		}
		extends, lingers := steps[scenarios.ExtendStep]+steps[scenarios.RenewStep], steps[scenarios.LingerStep]
		if can := !slices.Contains(unable, scenarios.ExtendStep); can != (extends > 50) || !can && extends > 0 {
			t.Errorf("one that cannot %v: %d extends", unable, extends)
		}
		if can := !slices.Contains(unable, scenarios.LingerStep); can != (lingers > 50) || !can && lingers > 0 {
			t.Errorf("one that cannot %v: %d clients linger", unable, lingers)
		}
	}
}

// A lock that renews itself is held for longer than a TTL again and again, beside another now and then; one that does not is
// not left to lapse like that.
func TestLocksThatRenewThemselves(t *testing.T) {
	for _, renews := range []bool{true, false} {
		s := NewSpace(DefaultBase())
		s.Own, s.Foreign, s.Strays = true, &scenarios.Foreign{Renews: renews}, false
		again, beside := 0, 0
		for seed := range uint64(300) {
			x := (Candidate{Seed: seed}).Scenario(s)
			lasting := map[string]int{} // items of a client that renew again and again
			for _, item := range x.Timeline {
				if item.Repeat == often && slices.ContainsFunc(item.Do, func(step scenarios.Step) bool {
					return step.Kind == scenarios.RenewStep && step.For > x.Lock.TTL
				}) {
					lasting[item.Client]++
				}
			}
			for _, items := range lasting {
				again++
				if items > 1 && len(x.Resources) > 1 {
					beside++
				}
			}
		}
		if renews && (again < 50 || beside < 10) || !renews && again+beside > 0 {
			t.Errorf("renews itself %v: %d clients hold lock after lock, %d two beside each other", renews, again, beside)
		}
	}
}
