package engine

import (
	"context"
	"errors"

	"redlocksim/internal/strictyaml"
	"redlocksim/search/audit"
)

// Audit is what an audit says.
type Audit struct {
	*audit.Audit
	Summary string `json:"summary"`
	// Shown are the runs that decide, as files for the editor.
	Shown []Shown `json:"shown"`
}

// Shown is a run with seed 0: its file, empty where nothing ran.
type Shown struct {
	Text string `json:"text"`
}

// auditOf audits the answers in the request's text.
func auditOf(ctx context.Context, q *Request) (any, error) {
	answers, err := audit.Parse(editor, []byte(q.Text))
	var wrong strictyaml.Errors
	if errors.As(err, &wrong) {
		return nil, located(wrong, false)
	}
	if err != nil {
		return nil, err
	}
	if audit.IsProgram(answers.Library) {
		return nil, errors.New("lock programs do not run in a browser; redlocksim audit takes them")
	}
	found, err := audit.Of(ctx, answers, audit.Options{})
	if err != nil {
		return nil, err
	}
	x := &Audit{Audit: found, Summary: found.Summary()}
	for i := range found.Assumptions {
		var shown Shown
		if a := &found.Assumptions[i]; a.Shown != nil {
			data, err := a.Run().Encode()
			if err != nil {
				return nil, err
			}
			shown.Text = string(data)
		}
		x.Shown = append(x.Shown, shown)
	}
	return x, nil
}
