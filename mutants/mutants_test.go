package mutants_test

import (
	"cmp"
	"errors"
	"os/exec"
	"testing"

	"redlocksim/mutants"
)

// The exit codes of redlocksim for a verdict other than expected.
var unexpected = map[int]bool{1: true, 3: true}

func TestScenariosKillTheirMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command once for every mutant")
	}
	for _, m := range mutants.All() {
		t.Run(m.Name, func(t *testing.T) {
			binary, err := m.Build("..", t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, scenario := range m.Killers {
				out, err := exec.Command(binary, "run", scenario, "--tier", cmp.Or(m.Tier, "model")).CombinedOutput()
				exit := (*exec.ExitError)(nil)
				if !errors.As(err, &exit) || !unexpected[exit.ExitCode()] {
					t.Errorf("%s: %v, want exit 1 or 3\n%s", scenario, err, out)
				}
			}
		})
	}
}

func TestEveryMutantHasItsPlace(t *testing.T) {
	for _, m := range mutants.All() {
		if _, err := m.Overlay("..", t.TempDir()); err != nil {
			t.Error(err)
		}
		if len(m.Killers) == 0 || m.Real == "" {
			t.Errorf("%s has no killer or no story", m.Name)
		}
	}
}
