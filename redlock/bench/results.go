//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"redlocksim/internal/outfile"
	"redlocksim/internal/plural"
)

// results are those of all rounds, as a file keeps them: a line of JSON each.
type results []result

// readResults reads a file, which need not exist yet; without a name there is none.
func readResults(path string) (all results, err error) {
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(text) {
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var r result
		if err := decoder.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s:%d is no result: %w", path, len(all)+1, err)
		}
		if err := r.check(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, err
}

// write writes the file, if it has a name.
func (all results) write(path string) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return outfile.Rules{Force: true}.Write(path, b.Bytes()) // it was read, and so is ours
}

// find is the result of a cell in a round; nil if there is none.
func (all results) find(round int, of cell) *result {
	if i := slices.IndexFunc(all, func(r result) bool { return r.Round == round && r.cell == of }); i >= 0 {
		return &all[i]
	}
	return nil
}

// errDoubled means that a contestant let two contenders in.
var errDoubled = errors.New("two had the lock at once")

func (r *result) check() error {
	if r.Doubled == 0 {
		return nil
	}
	return fmt.Errorf("%w: round %d, %v: %d of %d grants", errDoubled, r.Round, r.cell, r.Doubled, r.Grants)
}

// shortfall says what did not go as it should; empty if all did.
func (r *result) shortfall() (text string) {
	if r.Grants < r.Wanted {
		text += fmt.Sprintf("; %d of %d grants", r.Grants, r.Wanted)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf("; %s failed, the last: %s", plural.Count(r.Failed, "call"), r.Failure)
	}
	return text
}
