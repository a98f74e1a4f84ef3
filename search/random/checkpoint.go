package random

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/axiomhq/hyperloglog"

	"redlocksim/internal/build"
	"redlocksim/internal/input"
	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/redis"
)

// identity is what two searches must have in common to be the same search.
type identity struct {
	Base     string `json:"base"` // as a scenario file
	Lock     string `json:"lock,omitempty"`
	Build    string `json:"build,omitempty"` // of Lock
	Program  string `json:"program"`         // the build of redlocksim, on which results depend
	Swarm    bool   `json:"swarm,omitempty"`
	Beyond   bool   `json:"beyond"`
	Clients  int    `json:"clients"`
	Duration string `json:"duration"`
	Seed     uint64 `json:"seed"`
	Runs     int    `json:"runs"`
	Blind    bool   `json:"blind"`
	// Generation is part of it, since it decides which near misses are mutated.
	Generation int `json:"generation"`
}

// checkpoint is all that a search needs to continue after a whole generation.
type checkpoint struct {
	Generator string `json:"generator"` // the mark of the file

	Search  identity   `json:"search"`
	Summary Summary    `json:"summary"`
	Pool    []NearMiss `json:"pool"`
	Rare    []RareRun  `json:"rare"`
	Visits  visits     `json:"visits"`
	Worded  worded     `json:"worded"`
	Pending []pending  `json:"pending"`
	Sketch  []byte     `json:"sketch"` // of orders

	orders *hyperloglog.Sketch
}

func identify(s experiment.Space, o Options) (identity, error) {
	base, err := s.Base.Encode()
	if err != nil {
		return identity{}, err
	}
	program, err := build.Name()
	lock := scenarios.Foreign{}
	if s.Foreign != nil {
		lock = *s.Foreign
	}
	return identity{Base: string(base), Lock: lock.Name, Build: lock.Build, Program: program, Swarm: s.Swarm, Beyond: s.Beyond, Clients: s.Clients, Duration: s.Duration.String(),
		Seed: o.Seed, Runs: o.Runs, Blind: o.Blind, Generation: o.Generation}, err
}

// open gives the checkpoint that a search starts from: an empty one, or that of its directory.
func open(s experiment.Space, o Options) (*checkpoint, error) {
	this, err := identify(s, o)
	if err != nil {
		return nil, err
	}
	fresh := &checkpoint{Search: this, Visits: newVisits(), Worded: newWorded(), orders: hyperloglog.NewNoSparse()}
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
		return nil, fmt.Errorf("%w: %s holds another search (%s)", search.ErrDir, o.Dir, was.difference(fresh))
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
func (c *checkpoint) difference(other *checkpoint) string {
	a, b := c.Search, other.Search
	for _, d := range []struct {
		what      string
		was, this any
	}{
		{"build of redlocksim", a.Program, b.Program},
		{"lock", cmp.Or(a.Lock, "the library"), cmp.Or(b.Lock, "the library")}, {"build of " + a.Lock, a.Build, b.Build}, {"seed", a.Seed, b.Seed}, {"runs", a.Runs, b.Runs},
		{"beyond", a.Beyond, b.Beyond}, {"blind", a.Blind, b.Blind}, {"clients", a.Clients, b.Clients}, {"duration", a.Duration, b.Duration},
		{"generation", a.Generation, b.Generation},
	} {
		if d.was != d.this {
			return fmt.Sprintf("%s %v, not %v", d.what, d.was, d.this)
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
	c := &checkpoint{orders: hyperloglog.NewNoSparse()}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", search.ErrDir, path, err)
	}
	if err := c.orders.UnmarshalBinary(c.Sketch); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", search.ErrDir, path, err)
	}
	if err := errors.Join(c.Summary.Findings.Check(), c.Summary.Failures.Check()); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", search.ErrDir, path, err)
	}
	if len(c.Visits) != scenarios.NumStates {
		return nil, fmt.Errorf("%w: %s: visits of %d states, not %d", search.ErrDir, path, len(c.Visits), scenarios.NumStates)
	}
	if len(c.Worded) != redis.NumWordings {
		return nil, fmt.Errorf("%w: %s: %d wordings, not %d", search.ErrDir, path, len(c.Worded), redis.NumWordings)
	}
	return c, nil
}

// save writes the checkpoint atomically, and removes the files that it makes obsolete.
func (x *explorer) save() error {
	if x.options.Dir == "" {
		return nil
	}
	if err := x.checkpoint.write(x.options.Dir, x.options.Rules); err != nil {
		return err
	}
	return search.CleanDir(x.options.Dir, search.RawPattern, outfile.TempPattern)
}

func (c *checkpoint) write(dir string, rules outfile.Rules) error {
	c.Generator = mark.Name
	var err error
	if c.Sketch, err = c.orders.MarshalBinary(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return rules.Write(filepath.Join(dir, search.CheckpointFile), data)
}
