package scenarios_test

import (
	"os"
	"path/filepath"
	"testing"

	"redlocksim/scenarios"
)

// What comes with the command says nothing that cannot be meant.
func TestEmbeddedFilesHaveNoWarnings(t *testing.T) {
	files, err := filepath.Glob("files/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found, warnings, err := scenarios.Lint(path, data)
		if err != nil || len(found) == 0 || len(warnings) > 0 {
			t.Errorf("%d scenarios, %v, %v", len(found), warnings, err)
		}
	}
}
