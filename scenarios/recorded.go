package scenarios

import "fmt"

// Recorded is the run that a scenario file was written from.
type Recorded struct {
	// Seed is the seed of the run, unless another one is given. Example: 7
	Seed uint64 `yaml:"seed,required"`
	// History is the hash of the recorded history. Example: 4d376b5a…
	History string `yaml:"history,required"`
}

// Unlike says in words that a run with the recorded seed did not give the recorded history; empty if it did, or if
// nothing is recorded. Histories differ between versions of the library and the simulator.
func (r *Result) Unlike() string {
	rec := r.Scenario.Recorded
	if rec == nil || rec.Seed != r.Seed || rec.History == r.HistoryHash {
		return ""
	}
	verdict := "the verdict is the same"
	if !r.OK() {
		verdict = "the verdict is another one"
	}
	return fmt.Sprintf("not repeated: the history was %s when the file was written, by another version of the library or the simulator; %s", rec.History, verdict)
}
