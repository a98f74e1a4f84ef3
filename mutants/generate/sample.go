package generate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Draw is the order in which a seed draws the bugs. Every statement comes as early as any other, and of the bugs of a
// statement every class and then every bug: code that is long, or that fits many operators, has no more bugs than other code.
// The first bug of each statement comes before the second of any.
func (s *Set) Draw(seed string) []Mutant {
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
	type drawn struct {
		turn int
		at   [sha256.Size]byte
		Mutant
	}
	var all []drawn
	for at, classes := range of {
		place := fmt.Sprint(at.file, " ", at.at)
		var order []Mutant
		for _, c := range shuffled(seed, place, Classes(), func(c Class) string { return string(c) }) {
			order = append(order, shuffled(seed, place, classes[c], func(m Mutant) string { return m.Name })...)
		}
		// Classes take turns: the first bug of each, then the second of each.
		taken := map[Class]int{}
		turns := map[string]int{}
		for _, m := range order {
			turns[m.Name] = taken[m.Class]
			taken[m.Class]++
		}
		slices.SortStableFunc(order, func(a, b Mutant) int { return turns[a.Name] - turns[b.Name] })
		for turn, m := range order {
			all = append(all, drawn{turn, hash(seed, place), m})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int {
		return cmp.Or(a.turn-b.turn, bytes.Compare(a.at[:], b.at[:]), cmp.Compare(a.Name, b.Name))
	})
	order := make([]Mutant, len(all))
	for i := range all {
		order[i] = all[i].Mutant
	}
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

// Sample is the first n bugs that the seed draws, one for a statement, less those that do not compile and those that compile to the
// code that there is without them. Those fall to the next bug of their statement.
func (s *Set) Sample(ctx context.Context, seed string, n int) ([]Mutant, error) {
	var sample []Mutant
	used := map[string]bool{}
	for _, m := range s.Draw(seed) {
		at := fmt.Sprint(m.Edit.File, " ", m.Statement)
		if used[at] || len(sample) == n {
			continue
		}
		isReal, err := s.isReal(ctx, m)
		if err != nil {
			return nil, err
		}
		if isReal {
			used[at] = true
			sample = append(sample, m)
		}
	}
	return sample, nil
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
	if s.same[p.directory] == "" {
		code, err := s.assembly(ctx, p.directory, "")
		if err != nil {
			return false, err
		}
		s.same[p.directory] = code
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
	return code != s.same[p.directory], err
}

// positions are where instructions come from, which a change may shift.
var positions = regexp.MustCompile(`\([^()\n]*:\d+\)`)

// assembly is a hash of what a package compiles to. A package that the compiler rejects has none.
//
// Comparing what comes out of the compiler finds the simplest equivalent mutants, and only such ("trivial compiler equivalence",
// Papadakis et al. 2015).
func (s *Set) assembly(ctx context.Context, directory, overlay string) (string, error) {
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
	return string(sum[:]), nil
}

func last(text []byte) []byte { return text[max(0, len(text)-1000):] }
