package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// ciFiles are the reports that a command writes for continuous integration: paths, "-" for standard output, empty for none.
type ciFiles struct {
	junit, markdown string
}

func (f *ciFiles) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.junit, "junit", "", "write the results as JUnit XML to this file (- for standard output)")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary with stories as Markdown to this file (- for standard output)")
}

// targets are the files that were asked for.
func (f *ciFiles) targets() []target {
	return []target{file("--junit", f.junit), file("--markdown", f.markdown)}
}

// takeStdout says that one of the files is standard output.
func (f *ciFiles) takeStdout() bool { return f.junit == "-" || f.markdown == "-" }

// write writes the files; name is what the cases are the results of.
func (f *ciFiles) write(to *sink, name string, cases []reports.Case, took time.Duration) error {
	for i, write := range []func(io.Writer, string, []reports.Case, time.Duration) error{reports.JUnit, reports.Markdown} {
		t := f.targets()[i]
		if t.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := write(&b, name, cases, took); err != nil {
			return &failure{exitInternal, fmt.Errorf("internal error: %s: %w", t.flag, err)}
		}
		if err := to.put(t, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// annotate tells GitHub Actions, where it runs the command, what was not as expected.
func annotate(w io.Writer, cases []reports.Case) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if err := reports.Annotations(w, cases); err != nil {
		return &failure{exitInternal, err}
	}
	return nil
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
