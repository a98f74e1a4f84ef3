package random

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/internal/jobs"
	"redlocksim/internal/jobs/jobstest"
	"redlocksim/search/experiment"
)

// liar changes what another machine answers to jobs of a kind. What that has done once it is not asked for again.
type liar struct {
	*jobstest.There
	kind   string
	change func(output map[string]any)
	known  map[string][][]byte // outcomes, by the batch
}

func newLiar(kind string, change func(map[string]any)) *liar {
	return &liar{jobstest.NewThere(Jobs(nil)...), kind, change, map[string][][]byte{}}
}

func (l *liar) Do(ctx context.Context, b jobs.Batch, done func(int, []byte) bool) error {
	key := fmt.Sprintf("%s %s %s", b.Kind, b.Common, b.Inputs)
	if l.known[key] == nil {
		outcomes := make([][]byte, len(b.Inputs))
		if err := l.There.Do(ctx, b, func(job int, outcome []byte) bool { outcomes[job] = outcome; return false }); err != nil {
			return err
		}
		l.known[key] = outcomes
	}
	for job, outcome := range l.known[key] {
		if b.Kind == l.kind {
			var came map[string]any
			if err := json.Unmarshal(outcome, &came); err != nil {
				panic(err)
			}
			l.change(came["output"].(map[string]any))
			outcome, _ = json.Marshal(came)
		}
		if done(job, outcome) {
			break
		}
	}
	return nil
}

// set changes a value in what a worker answers, where there is one.
func set(value any, path ...string) func(map[string]any) {
	return func(at map[string]any) {
		for i, key := range path {
			if i == len(path)-1 {
				at[key] = value
				return
			}
			switch next := at[key].(type) {
			case map[string]any:
				at = next
			case []any:
				if len(next) == 0 {
					return
				}
				at = next[0].(map[string]any)
			default:
				return
			}
		}
	}
}

// What a worker answers is looked at before it becomes the name of a file, or a line of the terminal, or a place in a table.
func TestAnswersOfAHostileWorker(t *testing.T) {
	const ran, shrank, reduced = "search-trial", "search-shrink", "search-reduce"
	failure := func(key string, value any) func(map[string]any) {
		return set([]any{map[string]any{"run": 1, "error": "x", key: value}}, "Failures")
	}
	worker := newLiar("", nil)
	for name, c := range map[string]struct {
		kind   string
		change func(map[string]any)
		want   string
	}{
		"pending kind":          {ran, set("../../x", "Output", "Pending", "kind"), `no violation of kind "../../x"`},
		"pending families":      {ran, set([]string{"../../x"}, "Output", "Pending", "families"), "no families of faults"},
		"pending run":           {ran, set(1_000_000, "Output", "Pending", "run"), "is one of another run"},
		"pending worst":         {ran, set(1_000_000, "Output", "Pending", "worst"), "is one of another run"},
		"pending known":         {ran, set(7, "Output", "Pending", "known"), "is explained by finding 7 of 0"},
		"nothing reached":       {ran, set(nil, "Output", "Trial", "Run"), "does not say what it reached"},
		"reduced":               {reduced, set("busy-wait", "Output", "kind"), `became "busy-wait"`},
		"explained":             {reduced, set(-1, "Output", "known"), "is explained by finding -1 of "},
		"finding":               {shrank, set("../../x", "Output", "Finding", "kind"), `another: "../../x"`},
		"families":              {shrank, set([]string{"../../x"}, "Output", "Finding", "families"), `families of a finding are ["../../x"]`},
		"settings":              {shrank, set([]string{"../../x"}, "Output", "Finding", "settings"), "no settings of a search"},
		"blame":                 {shrank, set("\x1b[31m", "Output", "Finding", "blame"), `"\x1b[31m" is to blame`},
		"file":                  {shrank, set("../../x", "Output", "Finding", "file"), `has the file "../../x" already`},
		"faults":                {shrank, set(-1, "Output", "Finding", "faults"), "-1 faults"},
		"scenario":              {shrank, set("title: [\x1b", "Output", "Scenario"), "a finding: "},
		"no finding":            {shrank, set(nil, "Output"), "a finding: "},
		"file of a failure":     {ran, failure("file", "../../x"), `has the file "../../x" already`},
		"kind of a failure":     {ran, failure("kind", "\x1b[31m"), `no failure of kind "\x1b[31m"`},
		"scenario of a failure": {ran, failure("scenario", []byte("x: [")), "no scenario file"},
		"failed for no reason":  {shrank, set(true, "Failed"), "has failed, and does not say how"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			o := small(filepath.Join(parent, "a", "b"))
			worker.kind, worker.change = c.kind, c.change
			o.Elsewhere = worker
			if err := os.MkdirAll(filepath.Dir(o.Dir), 0o777); err != nil {
				t.Fatal(err)
			}
			_, err := Explore(t.Context(), beyond(), o)
			const other = "a worker answers in another way than this program does: "
			if err == nil || !strings.Contains(err.Error(), other) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("the search ends with %q, want %q", err, c.want)
			}
			if at, _ := filepath.Glob(filepath.Join(parent, "*")); !slices.Equal(at, []string{filepath.Dir(o.Dir)}) {
				t.Errorf("there are %v", at)
			}
		})
	}
}

// The text of a run that failed elsewhere is printed and kept, and commands nobody's terminal.
func TestErrorsOfAHostileWorker(t *testing.T) {
	o := Options{Runs: 2}
	sent := "a\x1b[31m\nb" + strings.Repeat("x", 1<<20)
	o.Elsewhere = newLiar("search-trial", set([]any{map[string]any{"run": 1, "error": sent}}, "Failures"))
	sum, err := Explore(t.Context(), experiment.NewSpace(experiment.DefaultBase()), o)
	if err == nil || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), `a\x1b[31m`+"\nb") || len(err.Error()) > 100<<10 {
		t.Errorf("%.200q", err)
	}
	if f := sum.Failures.Failures[0]; f.Line() != `a\x1b[31m` {
		t.Errorf("%.200q", f.Text)
	}
}
