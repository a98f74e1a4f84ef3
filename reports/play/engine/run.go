package engine

import (
	"cmp"
	"fmt"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/shell"
	"redlocksim/reports/timeline"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Run is what a run showed.
type Run struct {
	Title       string `json:"title"`
	Explanation string `json:"explanation"`
	Verdict     string `json:"verdict"`
	Expected    string `json:"expected"`
	Shown       string `json:"shown"`
	// Says is Verdict in a sentence.
	Says       string   `json:"says"`
	AsExpected bool     `json:"asExpected"`
	Problems   []string `json:"problems"`
	History    string   `json:"history"`
	Trace      string   `json:"trace"`
	Seed       uint64   `json:"seed"`
	Cases      []string `json:"cases"`
	Warnings   mistakes `json:"warnings"`
	// Page is the run as a page of its own.
	Page string `json:"page"`
}

// broken is what a run shows in which the lock does.
const broken = "broken"

// shows is what a run shows: that the lock is broken, that it is safe, or nothing, where what the file is about did not take
// place.
func shows(r *verdict.Result) string {
	switch {
	case r.IsBroken():
		return broken
	case len(r.NotTested) > 0:
		return verdict.NothingTested
	}
	return scenarios.Safe
}

// says is the verdict in one word, for people.
var says = map[string]string{string(checker.Holds): "The lock holds", "breaks": "The lock breaks", string(checker.Stuck): "The lock is stuck",
	string(checker.Leaks): "The lock leaks", string(checker.Untested): "This run shows nothing"}

func judged(q *Request) (*verdict.Result, []string, mistakes, error) {
	s, cases, warnings, err := read(q)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := verdict.Judge(s, scenarios.Options{Seed: q.Seed})
	return r, cases, warnings, err
}

// timelineOf is the timeline of a run of the editor's file, with the command that makes the run again.
func timelineOf(q *Request, r *verdict.Result) (*timeline.Timeline, error) {
	t, err := timeline.Of(r, repeat(q, r))
	if err == nil {
		t.Name = cmp.Or(q.Name, "your scenario")
		t.IsTrial = len(r.NotTested) == 0
	}
	return t, err
}

func repeat(q *Request, r *verdict.Result) string {
	command := "redlocksim run scenario.yaml"
	if s, ok := scenarios.Find(q.Name); ok {
		if text, err := s.Encode(); err == nil && string(text) == q.Text {
			command = "redlocksim run " + q.Name
		}
	}
	if _, name, ok := strings.Cut(r.Scenario.Name, "/"); ok {
		command += " --case " + shell.Quote(name)
	}
	if q.Seed != 0 {
		command += fmt.Sprint(" --seed ", q.Seed)
	}
	return command
}

func run(q *Request) (*Run, error) {
	r, cases, warnings, err := judged(q)
	if err != nil {
		return nil, err
	}
	x := &Run{Title: r.Scenario.Title, Explanation: r.Scenario.Explanation, Verdict: r.Says(), Expected: r.Scenario.Says(), Shown: shows(r), Says: says[r.InOne()],
		AsExpected: r.OK(), History: r.HistoryHash, Trace: r.TraceHash, Seed: q.Seed, Cases: cases, Warnings: warnings}
	for _, p := range r.Problems {
		x.Problems = append(x.Problems, p.Text)
	}
	t, err := timelineOf(q, r)
	if err != nil {
		return nil, err
	}
	var page strings.Builder
	err = timeline.WriteHTML(&page, t)
	x.Page = page.String()
	return x, err
}

// drawing is the run as a picture for documents, in SVG.
func drawing(q *Request) (string, error) {
	r, _, _, err := judged(q)
	if err != nil {
		return "", err
	}
	t, err := timelineOf(q, r)
	if err != nil {
		return "", err
	}
	var svg strings.Builder
	err = timeline.WriteSVG(&svg, t)
	return svg.String(), err
}
