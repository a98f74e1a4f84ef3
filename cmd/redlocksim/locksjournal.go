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
	"maps"
	"os"
	"path/filepath"
	"slices"

	"redlocksim/internal/input"
	"redlocksim/locks"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// journal keeps the runs on tier live, which take hours, so that an interrupted command can be continued: a line for each, in a
// file beside the pages.
type journal struct {
	path   string // empty if nothing is kept
	kept   map[string]*keptRun
	writes *os.File // once something is
}

// keptRun is a line: a cell, and what made it.
type keptRun struct {
	// Inputs is the hash of what it depends on.
	Inputs string         `json:"inputs"`
	Cell   locktable.Cell `json:"cell"`
	Page   string         `json:"page,omitempty"`
}

func (e *keptRun) key() string {
	c := &e.Cell
	return fmt.Sprintf("%q", []string{e.Inputs, c.Lock, c.Version, c.Settings, c.Case, string(c.Tier)})
}

// journalFile is its name in the directory of the pages.
const journalFile = "live.jsonl"

// maxJournal bounds it, in bytes.
const maxJournal = 1 << 30

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
		return j, nil
	}
	data, err := input.ReadRegular(j.path, maxJournal)
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

// find is the run of a cell that was made before, with the inputs of its column; nil if there is none.
func (j *journal) find(inputs string, s *scenarios.Scenario, c locktable.Cell) (*keptRun, error) {
	on, err := with(inputs, s)
	return j.kept[(&keptRun{Inputs: on, Cell: c}).key()], err
}

// add keeps a run.
func (j *journal) add(inputs string, s *scenarios.Scenario, c locktable.Cell) error {
	if j.path == "" {
		return nil
	}
	on, err := with(inputs, s)
	if err != nil {
		return err
	}
	line, err := json.Marshal(keptRun{on, c, c.Page})
	if err != nil {
		return wrap(err)
	}
	if j.writes == nil {
		if err := j.begin(); err != nil {
			return cannotWrite("--html", err)
		}
	}
	if _, err := j.writes.Write(append(line, '\n')); err != nil {
		return cannotWrite("--html", err)
	}
	return nil
}

// begin writes what was kept, whole lines only, before the first run that is added: a command without new runs loses none.
func (j *journal) begin() (err error) {
	if j.writes, err = os.Create(j.path); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(j.kept)) {
		line, err := json.Marshal(j.kept[key])
		if err != nil {
			return err
		}
		if _, err := j.writes.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// close ends the writing.
func (j *journal) close() {
	if j.writes != nil {
		_ = j.writes.Close() // each line was written by itself
	}
}

// with is the hash of the inputs of a column and of a scenario.
func with(inputs string, s *scenarios.Scenario) (string, error) {
	text, err := s.Encode()
	sum := sha256.Sum256(append([]byte(inputs+"\n"), text...))
	return hex.EncodeToString(sum[:]), wrap(err)
}

// inputs is the hash of what the runs of a column on tier live depend on, but for the scenarios: this program, how the lock is
// built and started, the files of its adapter, and the program that was built of a lock in Go.
func inputs(l *locks.Lock, built string, setting locks.Setting) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", wrap(err)
	}
	paths := []string{program}
	if l.Command == "" {
		paths = append(paths, built)
	}
	files, err := os.ReadDir(l.Dir)
	if err != nil {
		return "", wrap(err)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", []string{l.Command, l.Build, setting.Args})
	for _, f := range files { // of lock.yaml, the rest says what runs are called and why
		if !f.IsDir() && filepath.Ext(f.Name()) != ".wasm" && f.Name() != "lock.yaml" {
			paths = append(paths, filepath.Join(l.Dir, f.Name()))
		}
	}
	for _, path := range paths {
		data, err := input.ReadRegular(path, programs.MaxBytes)
		if err != nil {
			return "", wrap(err)
		}
		fmt.Fprintf(hash, "%q %d\n", filepath.Base(path), len(data))
		hash.Write(data)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
