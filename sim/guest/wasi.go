package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"redlocksim/sim/kernel"
)

// The modules that a program can import from.
const (
	wasiModule = "wasi_snapshot_preview1"
	ownModule  = "redlocksim"
)

// functions are those of WASI that are not wazero's own, which knows of no connections and waits by itself.
var functions = map[string]function{
	"fd_close":            fdClose,
	"fd_fdstat_get":       fdStat,
	"fd_fdstat_set_flags": nothing,
	"fd_read":             fdRead,
	"fd_write":            fdWrite,
	"poll_oneoff":         poll,
	"sock_recv":           sockRecv,
	"sock_send":           sockSend,
	"sock_shutdown":       nothing,
}

// link gives the program what it imports. The error says what of that there is not.
func (p *Program) link(ctx context.Context) error {
	wasi, own := p.runtime.NewHostModuleBuilder(wasiModule), p.runtime.NewHostModuleBuilder(ownModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	for _, f := range p.module.ImportedFunctions() {
		in, name, _ := f.Import()
		to, call := wasi, functions[name]
		switch {
		case in == ownModule && name == "dial":
			to, call = own, dial
		case in != wasiModule:
			return fmt.Errorf("the program imports %s from %q; there are %s and, from %q, dial", name, in, wasiModule, ownModule)
		case call == nil:
			continue
		}
		to.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(called(call, f.ParamTypes())), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for _, m := range []wazero.HostModuleBuilder{wasi, own} {
		if _, err := m.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// called has a guest call a function that has parameters of these types.
func called(f function, parameters []api.ValueType) func(context.Context, api.Module, []uint64) {
	return func(ctx context.Context, m api.Module, stack []uint64) {
		g := ctx.Value(guestKey{}).(*Guest)
		for i, t := range parameters {
			if t == api.ValueTypeI32 {
				stack[i] = uint64(uint32(stack[i])) // the rest is whatever was there
			}
		}
		isPanicking := true
		defer func() {
			if isPanicking {
				if v := recover(); v != nil {
					if _, exits := v.(*sys.ExitError); !exits {
						g.raised = v // the runtime makes an error of it
					}
					panic(v)
				}
			}
		}()
		g.asks()
		result := f(g, memory{m.Memory()}, stack)
		isPanicking = false
		stack[0] = uint64(result)
	}
}

// asks counts what the guest asks for.
func (g *Guest) asks() {
	if g.calls++; g.calls > g.program.limits.Calls {
		g.stop("it has asked for something more than %d times", g.program.limits.Calls)
	}
}

func nothing(*Guest, memory, []uint64) errno { return success }

// module is what a guest has of its process: the arguments, the clocks and random bytes.
func (g *Guest) module() wazero.ModuleConfig {
	reads := func(kind kernel.ClockKind) int64 {
		g.asks()
		return g.Process.Reads(kind)
	}
	return wazero.NewModuleConfig().WithName("").WithArgs(g.Args...).WithRandSource(random{g}).
		WithNanotime(func() int64 { return reads(kernel.Monotonic) }, 1).
		WithWalltime(func() (sec int64, nsec int32) {
			t := time.Duration(reads(kernel.WallClock))
			return int64(t / time.Second), int32(t % time.Second)
		}, 1)
}

// random is bytes that depend on how many lines the guest was given, and on how often it has asked since: what it draws for one
// call does not depend on what it drew for those before.
type random struct{ *Guest }

func (r random) Read(b []byte) (int, error) {
	g := r.Guest
	g.asks()
	if g.Process.Starved() {
		return 0, errors.New("no random bytes")
	}
	g.drawn++
	key := g.Process.Draw("guest").With(uint64(g.Number)).With(g.told).With(g.drawn)
	for i := range b {
		b[i] = byte(key.With(uint64(i)))
	}
	return len(b), nil
}
