package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// A run that is another one the second time is told of, with where it begins to differ. The lock here is another one in
// the second world that it is made for.
func TestARunThatDoesNotRepeatItself(t *testing.T) {
	s := scenarios.Catalogue()[0]
	made := 0
	locker := func(env protocols.Env) (protocols.Locker, error) {
		name := protocols.Name("redlock")
		if made++; made > len(s.Clients) {
			name = "single"
		}
		env.Settings = env.Settings.With(name)
		p, _ := protocols.Find(name)
		return p.New(env)
	}
	_, err := scenarios.Verify(s, scenarios.Options{Locker: locker})
	if !errors.Is(err, scenarios.ErrNotRepeated) || !strings.Contains(err.Error(), ": event ") {
		t.Errorf("Verify: %v", err)
	}
	first, err := scenarios.Run(s, scenarios.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := scenarios.Again(s, scenarios.Options{Seed: 1}, first); err != nil {
		t.Errorf("the same: %v", err)
	}
	if err := scenarios.Again(s, scenarios.Options{Seed: 2}, first); !errors.Is(err, scenarios.ErrNotRepeated) || !strings.Contains(err.Error(), "seed 2") || !strings.Contains(err.Error(), ": event ") {
		t.Errorf("another seed: %v", err)
	}
}
