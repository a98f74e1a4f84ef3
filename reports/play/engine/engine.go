// Package engine answers what the playground's page asks: it runs, lints, completes, varies and searches the scenario in the
// page's editor, and audits settings. The page runs it in a worker, compiled for the browser; requests and answers are JSON.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Request is what the page asks. What each of its questions needs stands there; the rest may be left out.
type Request struct {
	// Do is the question: one of the names in Answer.
	Do string `json:"do"`
	// Text is the file in the editor, and Case the name of the case in it that is meant; empty for the first.
	Text string `json:"text"`
	Case string `json:"case"`
	Seed uint64 `json:"seed"`
	// Name is that of a scenario of the catalogue, which the text is or was.
	Name string `json:"name"`
	// Path and Word are a setting and its value, as in lock.ttl and 8s; Values are those to compare.
	Path   string   `json:"path"`
	Word   string   `json:"word"`
	Values []string `json:"values"`
	// Offset is where the cursor is, in UTF-16 units as browsers count.
	Offset int `json:"offset"`
	// Runs is how many a search makes.
	Runs int `json:"runs"`
}

// questions are what can be asked, by name.
var questions = map[string]func(context.Context, *Request) (any, error){
	"catalogue": func(context.Context, *Request) (any, error) { return catalogue(), nil },
	"file":      func(_ context.Context, q *Request) (any, error) { return file(q.Name) },
	"run":       func(_ context.Context, q *Request) (any, error) { return run(q) },
	"drawing":   func(_ context.Context, q *Request) (any, error) { return drawing(q) },
	"sliders":   func(_ context.Context, q *Request) (any, error) { return sliders(q) },
	"set":       func(_ context.Context, q *Request) (any, error) { return set(q.Text, q.Path, q.Word) },
	"tips":      tips,
	"complete":  func(_ context.Context, q *Request) (any, error) { return complete(q.Text, q.Offset) },
	"worse":     worse,
	"audit":     auditOf,
}

// Answer answers a request with {"ok": …} or {"error": "…"}. A question that makes the simulator panic has an error, too.
func Answer(ctx context.Context, request []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			answer = failed(fmt.Errorf("internal error: %v", p))
		}
	}()
	var q Request
	if err := json.Unmarshal(request, &q); err != nil {
		return failed(err)
	}
	do := questions[q.Do]
	if do == nil {
		return failed(fmt.Errorf("no such question: %q", q.Do))
	}
	value, err := do(ctx, &q)
	if err != nil {
		return failed(err)
	}
	data, err := json.Marshal(struct {
		OK any `json:"ok"`
	}{value})
	if err != nil {
		return failed(err)
	}
	return data
}

func failed(err error) []byte {
	var wrong mistakes
	errors.As(err, &wrong)
	data, _ := json.Marshal(struct {
		Error    string    `json:"error"`
		Mistakes []Mistake `json:"mistakes,omitempty"`
	}{err.Error(), wrong})
	return data
}
