package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/outfile"
	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// records are what was measured of a target, as they are kept in the repository: measuring takes hours. Their file has a line
// for what they have in common, and one for each bug.
type records struct {
	common
	Bugs []record
}

// common is what all results of a target have in common.
type common struct {
	Target string `json:"target"`
	// Seed is what drew bugs, and Sample how many.
	Seed   string `json:"seed,omitempty"`
	Sample int    `json:"sample,omitempty"`
	// Limit is how many seconds of processor time each search had.
	Limit int `json:"limit,omitempty"`
}

func (c common) limit() time.Duration { return time.Duration(c.Limit) * time.Second }

// record is what became of one bug.
type record struct {
	Name string `json:"name"`
	// Mutant is the fingerprint of the mutant that was measured.
	Mutant string `json:"mutant"`
	// Class, Line and Edit are of a drawn bug.
	Class generate.Class `json:"class,omitempty"`
	Line  int            `json:"line,omitempty"`
	Edit  *mutants.Edit  `json:"edit,omitempty"`
	// Sources is the commit that it was measured with; see [sources].
	Sources string             `json:"sources"`
	Columns map[string]outcome `json:"columns"`
	// Judged is why a drawn bug that nothing noticed changes nothing but time, memory or messages, as a person decided. It is
	// written here by hand, and stays for as long as the bug is the same.
	Judged string `json:"judged,omitempty"`
}

// outcome is what became of a bug in one column.
type outcome struct {
	// How it was noticed: the kind of verdict, or how the process ended; empty if it was not.
	How string `json:"how,omitempty"`
	// By is what noticed it: a unit test, a scenario and its tier, or a run of a search.
	By string `json:"by,omitempty"`
	// CPU is the processor time until then, in seconds, without building.
	CPU float64 `json:"cpu,omitempty"`
}

// caught says whether any of the columns noticed the bug.
func (r record) caught(by ...string) bool {
	return slices.ContainsFunc(by, func(c string) bool { return r.Columns[c].How != "" })
}

// String is the result in a line.
func (r record) String() string {
	text := r.Name
	for _, c := range slices.Sorted(maps.Keys(r.Columns)) {
		if out := r.Columns[c]; out.How == "" {
			text += fmt.Sprintf("  %s: – (%.1f s)", c, out.CPU)
		} else {
			text += fmt.Sprintf("  %s: %s, %s (%.1f s)", c, out.How, out.By, out.CPU)
		}
	}
	return text
}

// missing says what was not noticed of a planted bug by what is said to notice it, or only in a way that shows nothing.
func (r record) missing(m mutants.Mutant) (all []string) {
	killers := slices.Clone(m.Killers)
	for _, t := range m.Tests {
		killers = append(killers, t.String())
	}
	for _, c := range killers {
		if how := r.Columns[c].How; how == "" || how == notTested {
			all = append(all, fmt.Sprintf("%s is not noticed by %s: %s", m.Name, c, m.Bug))
		}
	}
	return all
}

// resultsPath is where the results of a target are, in directory mutants.
func resultsPath(target string) string { return filepath.Join("measured", target+".jsonl") }

// read reads results. A file that is not there has none.
func read(path string) (r records, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	lines := json.NewDecoder(bytes.NewReader(data))
	for err = lines.Decode(&r.common); err == nil; {
		var one record
		if err = lines.Decode(&one); err == nil && one.Name != "" {
			r.add(one)
		}
	}
	if errors.Is(err, io.EOF) {
		return r, nil
	}
	return r, fmt.Errorf("%s: %w", path, err)
}

// write replaces the file by the results, or leaves it as it was.
func (r records) write(path string) error {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	err := lines.Encode(r.common)
	for _, one := range r.Bugs {
		err = errors.Join(err, lines.Encode(one))
	}
	if err != nil {
		return err
	}
	return outfile.Rules{Force: true}.Write(path, b.Bytes())
}

// add puts a result in its place, in that of an earlier one.
func (r *records) add(one record) {
	i, known := slices.BinarySearchFunc(r.Bugs, one.Name, func(old record, name string) int { return strings.Compare(old.Name, name) })
	if known {
		if one.Mutant == r.Bugs[i].Mutant {
			one.Judged = cmp.Or(one.Judged, r.Bugs[i].Judged)
		}
		r.Bugs[i] = one
		return
	}
	r.Bugs = slices.Insert(r.Bugs, i, one)
}

// has says whether there is a result of a bug as it is now, and of these sources if any are given.
func (r records) has(m mutants.Mutant, sources string) bool {
	return slices.ContainsFunc(r.Bugs, func(one record) bool {
		return one.Name == m.Name && one.Mutant == m.Fingerprint() && (sources == "" || one.Sources == sources)
	})
}
