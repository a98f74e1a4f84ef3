package programs

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"redlocksim/scenarios"
)

// Loader loads programs that are fetched, and keeps those that were used last. The zero value compiles each anew.
type Loader struct {
	// Cache is as for Load.
	Cache string

	mu   sync.Mutex
	kept []*Program // the last used comes last
}

// maxKept bounds the programs that a loader keeps, each of which is some 70 MB of memory: one machine serves few searches.
const maxKept = 4

// Load implements [scenarios.Loader]. Who comes while another loads a program waits.
func (l *Loader) Load(ctx context.Context, m *scenarios.Module, fetch func(ctx context.Context, hash string) ([]byte, error)) (*scenarios.Foreign, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range l.kept {
		if p.is(m) {
			l.kept = append(slices.Delete(l.kept, i, i+1), p)
			return p.Foreign(), nil
		}
	}
	wasm, err := fetch(ctx, m.Hash)
	if err != nil {
		return nil, fmt.Errorf("the lock program %s: %w", m.Name, err)
	}
	p, err := Compile(m.Name, wasm, m.Args, l.Cache)
	if err != nil {
		return nil, fmt.Errorf("the lock program %s: %w", m.Name, err)
	}
	// What is dropped is not closed, since a run may have it still: its memory is freed with it.
	l.kept = append(l.kept[max(0, len(l.kept)-maxKept+1):], p)
	return p.Foreign(), nil
}

// is says whether the program is made of a module.
func (p *Program) is(m *scenarios.Module) bool {
	return p.program.Hash() == m.Hash && p.name == m.Name && slices.Equal(p.args[1:], m.Args)
}
