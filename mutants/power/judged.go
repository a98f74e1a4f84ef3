package power

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Verdict is what a person decided about a bug that nothing noticed.
type Verdict string

const (
	// Equivalent: nothing can notice it, because it changes nothing that a caller, a node, or an observer can see.
	Equivalent Verdict = "equivalent"
	// Performance: it costs time, memory or messages, and nothing else.
	Performance Verdict = "performance"
)

// Judged is such a decision.
type Judged struct {
	Name    string  `yaml:"name"`
	Verdict Verdict `yaml:"verdict"`
	// Diff is the change: a decision is about this bug, whatever has its name later.
	Diff string `yaml:"diff"`
	Why  string `yaml:"why"`
}

// ReadJudged reads decisions. A file that is not there has none.
func ReadJudged(path string) ([]Judged, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Judged
	if err := yaml.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("power: %s: %w", path, err)
	}
	for _, j := range all {
		if j.Name == "" || j.Why == "" || j.Diff == "" || j.Verdict != Equivalent && j.Verdict != Performance {
			return nil, fmt.Errorf("power: %s: %q needs name, diff, why, and the verdict %s or %s", path, j.Name, Equivalent, Performance)
		}
	}
	return all, nil
}

// of is the decision about a bug; the zero Judged if there is none.
func of(judged []Judged, r Result) Judged {
	i := slices.IndexFunc(judged, func(j Judged) bool {
		return j.Name == r.Name && strings.TrimSpace(j.Diff) == strings.TrimSpace(r.diff())
	})
	if i < 0 {
		return Judged{}
	}
	return judged[i]
}
