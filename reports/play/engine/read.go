package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// Mistake is something wrong with the file in the editor, and where. Lines and columns count from 1.
type Mistake struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Text    string `json:"text"`
	Warning bool   `json:"warning"`
}

// mistakes is the error of a file that cannot be run.
type mistakes []Mistake

func (m mistakes) Error() string {
	all := make([]string, len(m))
	for i, one := range m {
		all[i] = fmt.Sprintf("line %d: %s", one.Line, one.Text)
	}
	return strings.Join(all, "\n")
}

// editor is what the errors of strictyaml call the file; a Mistake has its own place.
const editor = "file"

func located(all strictyaml.Errors, warning bool) (found mistakes) {
	for _, e := range all {
		text := strings.TrimPrefix(e.Error(), fmt.Sprintf("%s:%d:%d: ", editor, e.Line, e.Column))
		found = append(found, Mistake{max(e.Line, 1), max(e.Column, 1), strings.TrimPrefix(text, editor+": "), warning})
	}
	return found
}

// read is the scenario that a request is about, the names of all cases in the file, and what warnings there are.
func read(q *Request) (s *scenarios.Scenario, cases []string, warnings mistakes, err error) {
	found, warned, err := scenarios.Lint(editor, []byte(q.Text))
	var wrong strictyaml.Errors
	if errors.As(err, &wrong) {
		return nil, nil, nil, located(wrong, false)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if len(found) > 1 {
		for _, s := range found {
			_, name, _ := strings.Cut(s.Name, "/")
			cases = append(cases, name)
		}
	}
	at := max(0, slices.Index(cases, q.Case))
	return found[at], cases, located(warned, true), nil
}
