package main

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// judged is what a person decided about a bug that nothing noticed.
type judged struct {
	Name string `yaml:"name"`
	// Verdict is equivalent, if nothing can notice the bug because it changes nothing that a caller, a node, or an observer can
	// see, or performance, if it costs time, memory or messages, and nothing else.
	Verdict string `yaml:"verdict"`
	// Diff is the change: a decision is about this bug, whatever has its name later.
	Diff string `yaml:"diff"`
	Why  string `yaml:"why"`
}

const (
	equivalent  = "equivalent"
	performance = "performance"
)

// readJudged reads decisions, by what they are about.
func readJudged(path string) (map[string]judged, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []judged
	if err := yaml.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	of := map[string]judged{}
	for _, j := range all {
		if j.Name == "" || j.Why == "" || j.Diff == "" || j.Verdict != equivalent && j.Verdict != performance {
			return nil, fmt.Errorf("%s: %q needs name, diff, why, and the verdict %s or %s", path, j.Name, equivalent, performance)
		}
		of[subject(j.Name, j.Diff)] = j
	}
	return of, nil
}

// subject is what a decision is about: a change in a function, whatever the file is called.
func subject(name, diff string) string {
	_, function, _ := strings.Cut(name, ":")
	return function + "\n" + strings.TrimSpace(diff)
}

func (r Result) subject() string { return subject(r.Name, r.Edit.Diff()) }
