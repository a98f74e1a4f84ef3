package search

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// TestGoTest: the generated test compiles, passes, and fails where the run is not as the scenario says.
func TestGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two test binaries")
	}
	all := scenarios.Catalogue()
	c := all[slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == "17-clock-jump" })]
	wrong := *c
	wrong.Expect.Grants = slices.Clone(c.Expect.Grants)
	wrong.Expect.Grants[1].Value++
	wrong.Explanation = "with a `quote`"
	for s, passes := range map[*scenarios.Scenario]bool{c: true, &wrong: false} {
		source, err := goTest(s, 5)
		if err != nil {
			t.Fatal(err)
		}
		// A package that is there for the compiler only.
		dir := t.TempDir()
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "found", "found_test.go"): filepath.Join(dir, "found_test.go")}})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"found_test.go": []byte(source), "overlay.json": overlay} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		binary := filepath.Join(dir, "found.test")
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "redlocksim/search/found")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, source)
		}
		out, err := exec.Command(binary, "-test.v").CombinedOutput()
		if (err == nil) != passes || !strings.Contains(string(out), "TestLeaseOverlapSeed5") {
			t.Errorf("passes %v, want %v:\n%s\n%s", err == nil, passes, out, source)
		}
		if !passes && !strings.Contains(string(out), "was granted the lock 1 time, expected 2") {
			t.Errorf("it fails for another reason:\n%s", out)
		}
	}
}
