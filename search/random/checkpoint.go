package random

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"redlocksim/internal/build"
	"redlocksim/internal/input"
	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

// identity is what two searches must have in common to be the same search, by what users call it.
type identity struct {
	Program    string `json:"build of redlocksim"` // on which results depend
	Lock       string `json:"lock"`
	Build      string `json:"build of the lock"`
	Seed       uint64 `json:"seed"`
	Runs       int    `json:"runs"`
	Beyond     bool   `json:"beyond"`
	Clients    int    `json:"clients"`
	Duration   string `json:"duration"`
	Generation int    `json:"generation"` // which decides what is shrunk when
	Swarm      bool   `json:"drawn settings"`
	Base       string `json:"settings"` // as a scenario file
}

// checkpoint is all that a search needs to continue after a whole generation.
type checkpoint struct {
	Generator string `json:"generator"` // the mark of the file

	Search  identity  `json:"search"`
	Summary Summary   `json:"summary"`
	Pending []pending `json:"pending"`
}

func identify(s experiment.Space, o Options) (identity, error) {
	base, err := s.Base.Encode()
	if err != nil {
		return identity{}, err
	}
	program, err := build.Name()
	lock := scenarios.Foreign{Name: "the library"}
	if s.Foreign != nil {
		lock = *s.Foreign
	}
	return identity{Base: string(base), Lock: lock.Name, Build: lock.Build, Program: program, Swarm: s.Swarm, Beyond: s.Beyond, Clients: s.Clients,
		Duration: s.Duration.String(), Seed: o.Seed, Runs: o.Runs, Generation: o.Generation}, err
}

// open gives the checkpoint that a search starts from: an empty one, or that of its directory.
func open(s experiment.Space, o Options) (*checkpoint, error) {
	this, err := identify(s, o)
	if err != nil {
		return nil, err
	}
	fresh := &checkpoint{Search: this}
	fresh.Summary.TurnOn(s.Features()...)
	if o.Dir == "" {
		return fresh, nil
	}
	was, err := load(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, nil
	case err != nil && o.Rules.Force && !o.Resume:
		return fresh, nil // what is there is no search
	case err != nil:
		return nil, err
	case !o.Resume:
		return nil, fmt.Errorf("%w: %s holds a search with %d runs; resume it, or choose another directory", search.ErrDir, o.Dir, was.Summary.Runs)
	case was.Search != this:
		return nil, fmt.Errorf("%w: %s holds another search (%s)", search.ErrDir, o.Dir, was.Search.difference(this))
	}
	for _, f := range was.Summary.Findings {
		if _, err := os.Stat(filepath.Join(o.Dir, f.File)); err != nil {
			return nil, fmt.Errorf("%w: a file with what the search has found is missing: %w", search.ErrDir, err)
		}
	}
	// Raw files stay until their generation is done.
	return was, search.CleanDir(o.Dir, outfile.TempPattern)
}

// difference names the first thing in which two searches differ.
func (i identity) difference(this identity) string {
	a, b := reflect.ValueOf(i), reflect.ValueOf(this)
	for n := range a.NumField() - 1 {
		if !a.Field(n).Equal(b.Field(n)) {
			return fmt.Sprintf("%s %v, not %v", a.Type().Field(n).Tag.Get("json"), a.Field(n), b.Field(n))
		}
	}
	return "other settings"
}

// load reads the checkpoint of the search in a directory.
func load(dir string) (*checkpoint, error) {
	path := filepath.Join(dir, search.CheckpointFile)
	data, err := input.ReadFile(path, search.MaxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", search.ErrDir, err)
	}
	c := &checkpoint{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(c); err == nil {
		err = errors.Join(c.Summary.Findings.Check(), c.Summary.Failures.Check())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", search.ErrDir, path, err)
	}
	return c, nil
}

// save writes the checkpoint atomically, and removes the files that it makes obsolete.
func (e *explorer) save() error {
	if e.options.Dir == "" {
		return nil
	}
	if err := e.checkpoint.write(e.options.Dir, e.options.Rules); err != nil {
		return err
	}
	return search.CleanDir(e.options.Dir, search.RawPattern, outfile.TempPattern)
}

func (c *checkpoint) write(dir string, rules outfile.Rules) error {
	c.Generator = mark.Name
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return rules.Write(filepath.Join(dir, search.CheckpointFile), data)
}
