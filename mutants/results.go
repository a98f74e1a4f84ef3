package mutants

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"redlocksim/mutants/internal/resultsfile"
)

// Results are the outcomes of all mutants, as they are kept in the repository: running all takes minutes.
type Results struct {
	// Searched is in how many experiments with each of the settings searches looked for each bug.
	Searched int `json:"searched"`
	// Mutants are those that were run so far, in the order of All.
	Mutants []Result `json:"mutants"`
}

// Result is what is kept of an Outcome.
type Result struct {
	Name string `json:"name"`
	// Mutant is the fingerprint of the mutant that was run.
	Mutant string `json:"mutant"`
	// Sources stands for the sources that it was planted into; see Sources.
	Sources  string  `json:"sources"`
	KilledBy []Kill  `json:"killed_by"`
	Runs     int     `json:"runs"`
	Found    []Found `json:"found,omitempty"`
}

// Result is what is kept of an outcome: all but how long it took.
func (o Outcome) Result(sources string) Result {
	return Result{o.Mutant.Name, o.Mutant.fingerprint(), sources, o.KilledBy, o.Runs, o.Found}
}

// fingerprint tells a mutant from what it was before somebody changed it.
func (m Mutant) fingerprint() string {
	parts := []any{m.Edits, m.Killers, m.Tier}
	if m.Tests != nil {
		parts = append(parts, m.Tests)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// ReadResults reads results. A file that is not there has none.
func ReadResults(path string) (r Results, err error) {
	err = resultsfile.Read(path, &r)
	return r, err
}

// Write replaces the file by the results, or leaves it as it was.
func (r Results) Write(path string) error { return resultsfile.Write(path, r) }

// Add puts a result in its place. Results that somebody has merged by hand may be in any order.
func (r *Results) Add(result Result) {
	place := func(name string) int {
		return slices.IndexFunc(All(), func(m Mutant) bool { return m.Name == name })
	}
	r.Mutants = slices.DeleteFunc(r.Mutants, func(old Result) bool { return old.Name == result.Name })
	r.Mutants = append(r.Mutants, result)
	slices.SortStableFunc(r.Mutants, func(a, b Result) int { return place(a.Name) - place(b.Name) })
}

// Of is the result of a mutant.
func (r Results) Of(name string) (Result, bool) {
	i := slices.IndexFunc(r.Mutants, func(m Result) bool { return m.Name == name })
	if i < 0 {
		return Result{}, false
	}
	return r.Mutants[i], true
}

// Missing are the mutants that have no result as they are now.
func (r Results) Missing() []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		result, has := r.Of(m.Name)
		return has && result.Mutant == m.fingerprint()
	})
}

// Outdated are the mutants that have no result as they are now, or one that is of other sources.
func (r Results) Outdated(sources string) []Mutant {
	return slices.DeleteFunc(All(), func(m Mutant) bool {
		result, has := r.Of(m.Name)
		return has && result.Mutant == m.fingerprint() && result.Sources == sources
	})
}

// Kept is the results of the mutants that there are now.
func (r Results) Kept() Results {
	all := All()
	r.Mutants = slices.DeleteFunc(slices.Clone(r.Mutants), func(old Result) bool {
		return !slices.ContainsFunc(all, func(m Mutant) bool { return m.Name == old.Name })
	})
	return r
}

// Sources is a hash of all that decides what becomes of the mutants: the mutants, and what the runner is built from.
func Sources(ctx context.Context, root string) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`,
		runner, "./mutants")
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("mutants: the sources: %w\n%s", err, stderr.Bytes())
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return "", err
	}
	files := append(strings.Fields(string(out)), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"))
	slices.Sort(files)
	sum := sha256.New()
	for _, path := range slices.Compact(files) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(name), len(data), data)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}
