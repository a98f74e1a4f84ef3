package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
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

// Too many names are refused for their number, without a look at each pair of them: 130,000 took 13 seconds.
func TestTooManyNamesAreRefusedAtOnce(t *testing.T) {
	var names strings.Builder
	for i := range 130_000 {
		fmt.Fprintf(&names, "c%d,", i)
	}
	begin := time.Now()
	_, _, err := scenarios.Lint("many.yaml", scenariotest.Whole("clients: ["+names.String()+"]"))
	if err == nil || !strings.Contains(err.Error(), "130000 clients, must be from 1 to 1000") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
