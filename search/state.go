package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"redlocksim/checker"
	"redlocksim/internal/input"
	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
)

// ErrState is what errors about the directory of a search match: it holds another search, none, or one already.
var ErrState = errors.New("search: the directory cannot be used")

// identity is what makes two searches the same one.
type identity struct {
	Base     string `json:"base"` // as a scenario file
	Beyond   bool   `json:"beyond"`
	Clients  int    `json:"clients"`
	Duration string `json:"duration"`
	Seed     uint64 `json:"seed"`
	Runs     int    `json:"runs"`
	Shards   int    `json:"shards"`
	Blind    bool   `json:"blind"`
	// Generation changes what is mutated when.
	Generation int `json:"generation"`
}

// share is how many of the runs are a shard's.
func (id identity) share(shard int) int {
	return id.Runs*(shard+1)/id.Shards - id.Runs*shard/id.Shards
}

// pending is a violation that is to be shrunk.
type pending struct {
	Run       int          `json:"run"`
	Candidate Candidate    `json:"candidate"`
	Kind      checker.Kind `json:"kind"`
	Families  []string     `json:"families"`
	// Beyond says that its faults exceed the budget.
	Beyond bool `json:"beyond,omitempty"`
	// Known is the number of the finding that explains it, from 1; zero if none of those known does.
	Known int `json:"known,omitempty"`
}

// state is all that a search needs to go on after a whole generation.
type state struct {
	Generator string `json:"generator"` // the mark of the file

	Search  identity  `json:"search"`
	Shard   int       `json:"shard"`
	Summary Summary   `json:"summary"`
	Pool    []Escape  `json:"pool"`
	Pending []pending `json:"pending"`
	Sketch  []byte    `json:"sketch"` // of orders

	orders *hyperloglog.Sketch
}

const stateFile = "search.json"

func identify(s Space, o Options) (identity, error) {
	base, err := s.Base.Encode()
	return identity{Base: string(base), Beyond: s.Beyond, Clients: s.Clients, Duration: s.Duration.String(),
		Seed: o.Seed, Runs: o.Runs, Shards: o.Shards, Blind: o.Blind, Generation: o.Generation}, err
}

// open is the state that a search begins with: none, or what is in its directory.
func open(s Space, o Options) (*state, error) {
	this, err := identify(s, o)
	if err != nil {
		return nil, err
	}
	fresh := &state{Search: this, Shard: o.Shard, orders: hyperloglog.NewNoSparse()}
	fresh.Summary.TurnOn(s.Base.Features()...)
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
		return nil, fmt.Errorf("%w: %s holds a search with %d runs; resume it, or choose another directory", ErrState, o.Dir, was.Summary.Runs)
	case was.Search != this || was.Shard != o.Shard:
		return nil, fmt.Errorf("%w: %s holds another search (%s)", ErrState, o.Dir, was.difference(fresh))
	}
	// What is not shrunk stays until the generation that it is from is done.
	return was, remove(o.Dir, outfile.TempPattern)
}

// NewDir makes a directory for what is found, if it is not there, and keeps other searches out of it until unlock is called.
// The error matches ErrState if another search is under way there, or if the directory holds a random search, whose files could
// be overwritten; it is one of package outfile if files cannot be written there, or the rules do not allow it.
func NewDir(dir string, rules outfile.Rules) (unlock func(), err error) {
	if unlock, err = lockDir(dir, rules); err != nil {
		return nil, err
	}
	if _, err := load(dir); err == nil || !errors.Is(err, fs.ErrNotExist) && !rules.Force {
		unlock()
		return nil, fmt.Errorf("%w: %s holds a search already", ErrState, dir)
	}
	return unlock, nil
}

// difference names the first thing in which two searches differ.
func (st *state) difference(other *state) string {
	a, b := st.Search, other.Search
	for _, d := range []struct {
		what      string
		was, this any
	}{
		{"seed", a.Seed, b.Seed}, {"runs", a.Runs, b.Runs}, {"shard", st.Shard, other.Shard}, {"shards", a.Shards, b.Shards},
		{"beyond", a.Beyond, b.Beyond}, {"blind", a.Blind, b.Blind}, {"clients", a.Clients, b.Clients}, {"duration", a.Duration, b.Duration},
		{"generation", a.Generation, b.Generation},
	} {
		if d.was != d.this {
			return fmt.Sprintf("%s %v, not %v", d.what, d.was, d.this)
		}
	}
	return "other settings"
}

// maxState bounds the state of a search that is read back, in bytes. It holds what guides the next generation and a line for
// each finding, some hundred kilobytes.
const maxState = 64 << 20

// load reads the state of the search in a directory.
func load(dir string) (*state, error) {
	path := filepath.Join(dir, stateFile)
	data, err := input.ReadFile(path, maxState)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	st := &state{orders: hyperloglog.NewNoSparse()}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(st); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrState, path, err)
	}
	if err := st.orders.UnmarshalBinary(st.Sketch); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrState, path, err)
	}
	return st, nil
}

// save writes the state, all of it or nothing, and removes what it makes obsolete.
func (x *explorer) save() error {
	if x.options.Dir == "" {
		return nil
	}
	if err := x.state.write(x.options.Dir, x.options.Rules); err != nil {
		return err
	}
	return remove(x.options.Dir, RawPattern, outfile.TempPattern)
}

func (st *state) write(dir string, rules outfile.Rules) error {
	st.Generator = mark.Name
	var err error
	if st.Sketch, err = st.orders.MarshalBinary(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return err
	}
	return rules.Write(filepath.Join(dir, stateFile), data)
}

// remove removes files of a directory.
func remove(dir string, patterns ...string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		is := func(pattern string) bool { return matches(pattern, e.Name()) }
		if slices.ContainsFunc(patterns, is) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return &outfile.WriteError{Err: err}
	}
	return nil
}

// Writes says whether a name is one that a search may give to a file in its directory, or to a page beside it.
func Writes(name string) bool {
	if name == stateFile || matches(RawPattern, name) {
		return true
	}
	return slices.ContainsFunc([]string{".yaml", ".html", testEnd}, func(end string) bool { return matches("[1-9]*-*"+end, name) })
}

// matches says whether a name is as a pattern of this package, which is a right one.
func matches(pattern, name string) bool {
	ok, _ := filepath.Match(pattern, name)
	return ok
}
