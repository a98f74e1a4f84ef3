package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// A fault that no run injects is warned of, with what the run says of it. Nothing is said where it depends on what clients do.
func TestFaultsThatNoRunInjects(t *testing.T) {
	const crash = "{at: 1s, fault: {crash: {client: client-1}}}"
	for timeline, want := range map[string]string{
		"{at: 1s, fault: {kill: {node: C}}}, {at: 2s, fault: {kill: {node: C}}}":                                  "faults: kill: C is down already",
		"{at: 1s, fault: {power-loss: {node: C, restart-after: 1s}}}, {at: 2500ms, fault: {shutdown: {node: C}}}": "",
		"{at: 1s, fault: {power-loss: {node: C, restart-after: 2s}}}, {at: 2500ms, fault: {shutdown: {node: C}}}": "faults: shutdown: C is down already",
		"{at: 2s, fault: {kill: {node: C}}}, {at: 1s, fault: {restart: {node: C}}}":                               "faults: restart: C is up",
		"{at: 1s, fault: {kill: {node: C}}}, {at: 2s, fault: {pause: {process: C, for: 1s}}}":                     "faults: pause: C is down",
		crash + ", {at: 2s, fault: {suspend: {client: client-1, for: 1s}}}":                                       "faults: suspend: client-1 has crashed",
		crash + ", {at: 2s, fault: {crash: {client: client-1}}}":                                                  "sim: crash: client-1 has crashed already",
		"{at: 1s, fault: {pause: {process: client-1, for: 1s}}}, {at: 3s, fault: {resume: {process: client-1}}}":  "faults: resume: client-1 is not paused",
		"{at: 1s, fault: {kill: {node: C}}}, {at: 2s, fault: {evict: {node: C}}}":                                 "faults: evict: C is down",
		// Clients may have set a key.
		"{at: 2s, fault: {evict: {node: C}}}":                                                                                                                   "",
		"{at: 1s, fault: {kill: {node: C}}}, {at: 2s, fault: {overwrite: {node: C}}}":                                                                           "faults: overwrite: C is down",
		"{at: 1s, fault: {kill: {node: A2}}}, {at: 2s, fault: {promote: {node: A, replica: A2}}}":                                                               "sim: promote: node A2 is down",
		"{at: 1s, fault: {promote: {node: A, replica: A2}}}, {at: 2s, fault: {promote: {node: A, replica: A2}}}":                                                "sim: promote: node A2 is a master already",
		"{at: 1s, fault: {kill: {node: A2}}}, {at: 2s, fault: {failover: {node: A, replica: A2, after: 1s}}}":                                                   "A2 does not take over from A: sim: promote: node A2 is down",
		"{after: {event: acquire-done}, fault: {restart: {node: C}}}, {at: 2s, fault: {kill: {node: C}}}, {at: 3s, fault: {kill: {node: C}}}":                   "",
		"{after: {event: acquire-done}, fault: {restart: {node: A2}}}, {at: 1s, fault: {kill: {node: A2}}}, {at: 2s, fault: {promote: {node: A, replica: A2}}}": "",
	} {
		file := scenariotest.Whole("duration: 30s\nnodes: {replicas: {A: [A2]}}\ntimeline: [" + timeline +
			", {at: 0s, client: client-1, do: [try-lock]}, {at: 1s, client: client-2, do: [try-lock]}]")
		found, warnings, err := scenarios.Lint("f.yaml", file)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if len(warnings) > 0 {
				t.Errorf("%s: %v", timeline, warnings)
			}
			continue
		}
		told := slices.ContainsFunc(scenariotest.Ran(t, found[0], scenarios.Options{}).NotInjected, func(why string) bool { return strings.Contains(why, want) })
		if len(warnings) != 1 || !strings.Contains(warnings.Error(), want) || !told {
			t.Errorf("%s: %v, want %s; the run says so: %v", timeline, warnings, want, told)
		}
	}
}
