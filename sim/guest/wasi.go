package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// The modules that a program can import from.
const (
	wasiModule = "wasi_snapshot_preview1"
	ownModule  = "redlocksim"
)

// wazeros are the functions of WASI that are wazero's own. Its others are for files: one of them takes as much memory as the
// program says.
var wazeros = []string{"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get", "clock_time_get",
	"fd_prestat_get", "fd_prestat_dir_name", "proc_exit", "random_get", "sched_yield"}

// functions are those that wazero's are not for, which know of no connections and wait by themselves. All others answer that
// they are not there.
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
		case slices.Contains(wazeros, name):
			continue
		case call == nil:
			call = func(*Guest, memory, []uint64) errno { return notThere }
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

func nothing(*Guest, memory, []uint64) errno { return success }
