package main

import (
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// ciReports are the files that a command writes for continuous integration.
var ciReports = []fileReport[*reports.Job]{
	{"junit", "write JUnit XML" + toFile, reports.JUnit},
	{"markdown", "write Markdown" + toFile, reports.Markdown},
}

// annotate tells GitHub Actions, where it runs the command, what was not as expected.
func annotate(w io.Writer, cases []reports.Case) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	return wrap(reports.Annotations(w, cases))
}

// lineOf is the line of a file on which to show that a scenario of it is not as expected: where its case begins, or where
// it says what is expected. 0 if that cannot be found any more.
func lineOf(path string, s *scenarios.Scenario) int {
	text, err := strictyaml.ReadFile(path)
	var document yaml.Node
	if err != nil || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return 0
	}
	root := document.Content[0]
	if of := caseOf(s); of != "" {
		if _, cases := entry(root, "cases"); cases != nil {
			root = cases
		}
		if key, _ := entry(root, of); key != nil {
			return key.Line
		}
	}
	if key, _ := entry(root, "expect"); key != nil {
		return key.Line
	}
	return 0
}

// entry is a key of a mapping and its value; nil if it is not there.
func entry(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
