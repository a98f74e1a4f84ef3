// Package guest runs programs in the simulator that know nothing of it: WebAssembly that speaks WASI, in processes of the
// kernel. The clocks, the random bytes, the connections and every wait of a guest are its process's, so that a pause, a crash,
// a clock of another rate or a cut link is to a guest what it is to a program on a machine of its own.
//
// A guest is one coroutine, whatever goroutines it has inside, and waits only in poll_oneoff. The same program that is told the
// same does the same, to the byte.
//
// Start with [Load] and [Program.Start].
package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Program is a compiled program. It can run in many guests at once.
type Program struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	hash    string
	limits  Limits
	memories
}

// Load compiles a program, which takes seconds; cache, if not empty, is a directory where the result is kept for the next time.
// The error says what is wrong with the program, or what it needs and is not there.
func Load(wasm []byte, cache string, limits Limits) (*Program, error) {
	ctx := context.Background()
	limits = limits.withDefaults()
	d, err := declared(wasm, limits.Turns)
	if err != nil {
		return nil, notAProgram(err)
	}
	cfg := wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(uint32(limits.Memory / page))
	if d.growing { // without them no instruction can
		cfg = cfg.WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureReferenceTypes, false))
	}
	if cache != "" {
		kept, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return nil, fmt.Errorf("the cache for compiled programs: %w", err)
		}
		cfg = cfg.WithCompilationCache(kept)
	}
	sum := sha256.Sum256(wasm)
	p := &Program{runtime: wazero.NewRuntimeWithConfig(ctx, cfg), hash: hex.EncodeToString(sum[:]), limits: limits, memories: memories{image: d.image}}
	if err := p.compile(ctx, d.module); err != nil {
		_ = p.Close() // the error says more
		return nil, err
	}
	return p, nil
}

func (p *Program) compile(ctx context.Context, wasm []byte) (err error) {
	if p.module, err = p.runtime.CompileModule(ctx, wasm); err != nil {
		return notAProgram(err)
	}
	if _, runs := p.module.ExportedFunctions()["_start"]; !runs {
		return errors.New("the module has no _start: it is a library, not a program")
	}
	return p.link(ctx)
}

func notAProgram(err error) error {
	return fmt.Errorf("not a WebAssembly program that can run here: %w", err)
}

// Hash is that of the program's bytes.
func (p *Program) Hash() string { return p.hash }

// Close frees the program. No guest may run it.
func (p *Program) Close() error { return p.runtime.Close(context.Background()) }

var _ io.Closer = (*Program)(nil)
