package audit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// What is safe all together, of a sound lock, survives random runs as well, which know nothing of attacks.
func TestWhatIsSafeSurvivesRandomRuns(t *testing.T) {
	bounded(t, 8)
	worlds := 0
	rapid.Check(t, func(t *rapid.T) {
		library := rapid.SampledFrom([]string{ourLibrary, "single"}).Draw(t, "sound library")
		_, rest, _ := strings.Cut(someAnswers(t), "\n")
		file := "library: " + library + "\n" + rest
		answers, err := Parse("ours.yaml", []byte(file))
		if err != nil { // others may be asked for more than a lock on one Redis
			t.Skip(err)
		}
		out, err := Of(t.Context(), answers, Options{Unmended: true})
		if errors.Is(err, ErrInput) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("%s%v", file, err)
		}
		isSafe := func(line string) bool {
			x := out.line(line)
			return x != nil && x.Verdict == Safe
		}
		if !isSafe("all together") {
			t.Skip("not safe")
		}
		worlds++
		world := out.line("all together").Run().Settings()
		space, buffer := experiment.NewSpace(world), history.History{}
		for run := range 20 {
			drawn := space.Draw(faults.Drawn{Key: kernel.Key(0).WithString(file)}.For("run", run))
			atLeast(drawn, world)
			trial, r, err := search.Try(drawn, scenarios.Options{Seed: uint64(run)}, &buffer)
			if err != nil {
				t.Fatalf("%s%v", file, err)
			}
			for _, kind := range r.Findings {
				isLate := kind == checker.StaleWrite && !isSafe("pause")
				if kind.Violation() && !kind.Monitored() && !isLate && !slices.Contains(trial.Excused, kind) {
					text, _ := drawn.Encode()
					t.Errorf("%sseed %d: %v\n%s", file, run, kind, text)
				}
			}
		}
	})
	if worlds < 3 {
		t.Errorf("%d worlds show nothing", worlds)
	}
}

// atLeast has clients take no lock for less than the TTL that was audited: an allowance for clocks is a part of it.
func atLeast(drawn, world *scenarios.Scenario) {
	ttl := world.Lock.TTL
	for i := range drawn.Timeline {
		item := &drawn.Timeline[i]
		item.Do = slices.Clone(item.Do)
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
}
