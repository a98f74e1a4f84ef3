package random

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// A worker refuses questions that the command would refuse, before it makes a run.
func TestWorkersRefuseWhatTheCommandDoes(t *testing.T) {
	packed, err := (&question{space: experiment.NewSpace(experiment.DefaultBase()), shrinkRuns: shrinkRuns}).pack()
	if err != nil {
		t.Fatal(err)
	}
	load := func(context.Context, *scenarios.Module, func(context.Context, string) ([]byte, error)) (*scenarios.Foreign, error) {
		return nil, errors.New("none")
	}
	input := []byte(`{"run":1,"seed":1}`)
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"Clients", 3, ""},
		{"Clients", 1_000_000_000, "experiments with up to 1000000000 clients: want 2 to 20"},
		{"Clients", -1, "want 2 to 20"},
		{"Duration", int64(time.Hour) + 1, "want 10ms to 1h0m0s"},
		{"Duration", 0, "want 10ms to 1h0m0s"},
		{"ShrinkRuns", 1_000_000_000, "want 1 to 3000"},
		{"Base", "lock: {ttl: 1s", "did not find expected"},
	} {
		var question map[string]any
		if err := json.Unmarshal(packed, &question); err != nil {
			t.Fatal(err)
		}
		question[c.key] = c.value
		common, err := json.Marshal(question)
		if err != nil {
			t.Fatal(err)
		}
		_, err = jobs.NewServer(nil, Jobs(load)...).Do(t.Context(), jobs.Batch{Kind: trialJobs.Name, Common: common, Inputs: [][]byte{input}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.key, c.value, err, c.want)
		}
	}
}
