package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"redlocksim/locks"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
)

// journal keeps the runs on tier live, which take hours, so that an interrupted command can be continued: a line for each, in a
// file beside the pages.
type journal struct {
	path string // empty if nothing is kept
	kept map[string]*keptRun
}

// keptRun is a line: a cell, and what made it.
type keptRun struct {
	// Made is the hash of what made it: the lock's adapter and the scenario.
	Made string         `json:"made"`
	Cell locktable.Cell `json:"cell"`
	Page string         `json:"page,omitempty"`
}

func (e *keptRun) key() string {
	c := &e.Cell
	return fmt.Sprintf("%q", []string{e.Made, c.Lock, c.Version, c.Settings, c.Case, string(c.Tier)})
}

// journalFile is its name in the directory of the pages.
const journalFile = "live.jsonl"

// openJournal begins a journal in a directory, or reads the one that is there.
func openJournal(dir string, resume bool) (*journal, error) {
	j := &journal{kept: map[string]*keptRun{}}
	if dir == "" {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, cannotWrite("--html", err)
	}
	j.path = filepath.Join(dir, journalFile)
	if !resume {
		if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, cannotWrite("--html", err)
		}
		return j, nil
	}
	data, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--resume: %w", err)}
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // a line may have been cut off with the command
	text := bufio.NewScanner(bytes.NewReader(data))
	text.Buffer(nil, 1<<20)
	for n := 1; text.Scan(); n++ {
		var e keptRun
		if err := json.Unmarshal(text.Bytes(), &e); err != nil {
			return nil, &failure{exitUsage, fmt.Errorf("--resume: %s:%d: %w", j.path, n, err)}
		}
		j.kept[e.key()] = &e
	}
	return j, wrap(text.Err())
}

// find is the run of a cell that was made before; nil if there is none.
func (j *journal) find(made string, c locktable.Cell) *keptRun {
	return j.kept[(&keptRun{Made: made, Cell: c}).key()]
}

// add keeps a run. One that came to nothing is made anew: the machine may have been to blame.
func (j *journal) add(made string, c locktable.Cell) error {
	if j.path == "" || slices.Contains(c.Grade, scenarios.NotApplicable) {
		return nil
	}
	line, err := json.Marshal(keptRun{made, c, c.Page})
	if err != nil {
		return wrap(err)
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return cannotWrite("--html", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return cannotWrite("--html", err)
	}
	return nil
}

// madeBy is the hash of a scenario and of the files of a lock's adapter.
func madeBy(l *locks.Lock, s *scenarios.Scenario) (string, error) {
	files, err := os.ReadDir(l.Dir)
	if err != nil {
		return "", wrap(err)
	}
	text, err := s.Encode()
	if err != nil {
		return "", wrap(err)
	}
	hash := sha256.New()
	hash.Write(text)
	for _, f := range files {
		// lock.yaml says only what the runs are called.
		if f.IsDir() || filepath.Ext(f.Name()) == ".wasm" || f.Name() == "lock.yaml" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(l.Dir, f.Name()))
		if err != nil {
			return "", wrap(err)
		}
		fmt.Fprintf(hash, "%q %d\n", f.Name(), len(data))
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
