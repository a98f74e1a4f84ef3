package generate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"redlocksim/internal/jobs"
)

// Draw is the order in which a seed draws the bugs, those of each statement by themselves. Every statement comes as early as
// any other, and of the bugs of a statement every class and then every bug: code that is long, or that fits many operators, has
// no more bugs than other code.
func (s *Set) Draw(seed string) [][]Mutant {
	type statement struct {
		file string
		at   Position
	}
	of := map[statement]map[Class][]Mutant{}
	for _, m := range s.Mutants {
		at := statement{m.Edit.File, m.Statement}
		if of[at] == nil {
			of[at] = map[Class][]Mutant{}
		}
		of[at][m.Class] = append(of[at][m.Class], m)
	}
	all := map[string][]Mutant{}
	for at, classes := range of {
		place := fmt.Sprint(at.file, " ", at.at)
		all[place] = turns(seed, place, classes)
	}
	var order [][]Mutant
	for _, place := range shuffled(seed, "", slices.Sorted(maps.Keys(all)), func(place string) string { return place }) {
		order = append(order, all[place])
	}
	return order
}

// turns is the bugs of a place in an order in which classes take turns: the first bug of each, then the second of each.
func turns(seed, place string, classes map[Class][]Mutant) []Mutant {
	var order []Mutant
	turn := map[string]int{}
	for _, c := range shuffled(seed, place, Classes(), func(c Class) string { return string(c) }) {
		for i, m := range shuffled(seed, place, classes[c], func(m Mutant) string { return m.Name }) {
			order, turn[m.Name] = append(order, m), i
		}
	}
	slices.SortStableFunc(order, func(a, b Mutant) int { return turn[a.Name] - turn[b.Name] })
	return order
}

func hash(seed, what string) [sha256.Size]byte { return sha256.Sum256([]byte(seed + "\n" + what)) }

// shuffled is a list in an order that depends on the seed and the place alone.
func shuffled[T any](seed, place string, list []T, name func(T) string) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b T) int {
		x, y := hash(seed, place+"\n"+name(a)), hash(seed, place+"\n"+name(b))
		return bytes.Compare(x[:], y[:])
	})
	return list
}

// Sample is the first n bugs that the seed draws, one for a statement, less those that do not compile and those that compile to
// the code that there is without them. Those fall to the next bug of their statement.
func (s *Set) Sample(ctx context.Context, seed string, n int) ([]Mutant, error) {
	var sample []Mutant
	statements := s.Draw(seed)
	for len(sample) < n && len(statements) > 0 {
		some := statements[:min(n-len(sample), len(statements))]
		statements = statements[len(some):]
		found, err := jobs.Set[struct{}, *Mutant]{
			N:    len(some),
			Do:   func(ctx context.Context, _ *struct{}, i int) (*Mutant, error) { return s.firstReal(ctx, some[i]) },
			Name: func(i int) string { return some[i][0].Name },
		}.Run(ctx)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for _, f := range found {
			if f.Value != nil {
				sample = append(sample, *f.Value)
			}
		}
	}
	return sample, nil
}

// firstReal is the first bug that is real; nil if none is.
func (s *Set) firstReal(ctx context.Context, all []Mutant) (*Mutant, error) {
	for i := range all {
		if isReal, err := s.isReal(ctx, all[i]); isReal || err != nil {
			return &all[i], err
		}
	}
	return nil, nil
}

// isReal reports whether a bug compiles, and to other code.
func (s *Set) isReal(ctx context.Context, m Mutant) (bool, error) {
	if filepath.Ext(m.Edit.File) == ".lua" {
		text, err := os.ReadFile(filepath.Join(s.root, m.Edit.File))
		if err != nil {
			return false, err
		}
		code := bytecode(strings.Replace(string(text), m.Edit.Old, m.Edit.New, 1))
		return code != "" && code != bytecode(string(text)), nil
	}
	i := slices.IndexFunc(s.packages, func(p *source) bool { return p.directory == filepath.ToSlash(filepath.Dir(m.Edit.File)) })
	p := s.packages[i]
	if ok, err := p.compiles(s.root, m); !ok || err != nil {
		return false, err
	}
	same, err := s.assembly(ctx, p.directory, "")
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	overlay, err := m.Mutant().Overlay(s.root, dir)
	if err != nil {
		return false, err
	}
	code, err := s.assembly(ctx, p.directory, overlay)
	return code != same, err
}

// positions are where instructions come from, which a change may shift.
var positions = regexp.MustCompile(`\([^()\n]*:\d+\)`)

// assembly is a hash of what a package compiles to. A package that the compiler rejects has none.
//
// Comparing what comes out of the compiler finds the simplest equivalent mutants, and only such ("trivial compiler
// equivalence", Papadakis et al. 2015).
func (s *Set) assembly(ctx context.Context, directory, overlay string) (string, error) {
	if overlay == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if code := s.same[directory]; code != "" {
			return code, nil
		}
	}
	args := []string{"build", "-gcflags=-S", "-trimpath"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	build := exec.CommandContext(ctx, "go", append(args, "./"+directory)...)
	build.Dir = s.root
	listing, err := build.CombinedOutput()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("generate: %s does not build, though it is well-typed: %w\n%s", directory, err, last(listing))
	}
	if !bytes.Contains(listing, []byte("TEXT")) {
		return "", fmt.Errorf("generate: the compiler lists no code for %s", directory)
	}
	sum := sha256.Sum256(positions.ReplaceAll(listing, nil))
	if overlay == "" {
		s.same[directory] = string(sum[:])
	}
	return string(sum[:]), nil
}

func last(text []byte) []byte { return text[max(0, len(text)-1000):] }
