package guest

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// The modules that a program can import from.
const (
	wasiModule = "wasi_snapshot_preview1"
	ownModule  = "redlocksim"
)

// functions are those of WASI that do something here. The others answer that they are not there.
var functions = map[string]function{
	"args_get":            argsGet,
	"args_sizes_get":      argsSizes,
	"environ_get":         nothing,
	"environ_sizes_get":   noEnvironment,
	"clock_res_get":       clockResolution,
	"clock_time_get":      clockTime,
	"fd_close":            fdClose,
	"fd_fdstat_get":       fdStat,
	"fd_fdstat_set_flags": nothing,
	"fd_prestat_get":      noDirectory,
	"fd_prestat_dir_name": noDirectory,
	"fd_read":             fdRead,
	"fd_write":            fdWrite,
	"poll_oneoff":         poll,
	"random_get":          random,
	"sched_yield":         nothing,
	"sock_recv":           sockRecv,
	"sock_send":           sockSend,
	"sock_shutdown":       nothing,
}

// link gives the program what it imports. The error says what of that there is not.
func (p *Program) link(ctx context.Context) error {
	modules := map[string]wazero.HostModuleBuilder{}
	linked := map[string]bool{}
	for _, f := range p.module.ImportedFunctions() {
		in, name, _ := f.Import()
		if linked[in+"."+name] {
			continue
		}
		linked[in+"."+name] = true
		call := functions[name]
		switch {
		case in == ownModule && name == "dial":
			call = dial
		case in != wasiModule:
			return fmt.Errorf("the program imports %s from %q; there are %s and, from %q, dial", name, in, wasiModule, ownModule)
		case name == "proc_exit":
			call = exit
		case call == nil:
			call = func(*Guest, memory, []uint64) errno { return notThere }
		}
		if modules[in] == nil {
			modules[in] = p.runtime.NewHostModuleBuilder(in)
		}
		modules[in].NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(called(call, f.ParamTypes())), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	for in, m := range modules {
		if _, err := m.Instantiate(ctx); err != nil {
			return fmt.Errorf("%s: %w", in, err)
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
		if g.calls++; g.calls > g.program.limits.Calls {
			g.stop("it has asked for something more than %d times", g.program.limits.Calls)
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
		result := f(g, memory{m.Memory()}, stack)
		isPanicking = false
		stack[0] = uint64(result)
	}
}

func exit(_ *Guest, _ memory, args []uint64) errno { panic(sys.NewExitError(uint32(args[0]))) }

func nothing(*Guest, memory, []uint64) errno { return success }

func noDirectory(*Guest, memory, []uint64) errno { return badFile }

func argsSizes(g *Guest, m memory, args []uint64) errno {
	size := 0
	for _, a := range g.Args {
		size += len(a) + 1
	}
	return m.put32(args[0], uint32(len(g.Args))).and(m.put32(args[1], uint32(size)))
}

func argsGet(g *Guest, m memory, args []uint64) errno {
	at := args[1]
	for i, a := range g.Args {
		if e := m.put32(args[0]+uint64(4*i), uint32(at)).and(m.put(at, append([]byte(a), 0))); e != success {
			return e
		}
		at += uint64(len(a)) + 1
	}
	return success
}

func noEnvironment(_ *Guest, m memory, args []uint64) errno {
	return m.put32(args[0], 0).and(m.put32(args[1], 0))
}

// random fills with bytes that depend on how many lines the guest was given, and on how often it has asked since: what it draws
// for one call does not depend on what it drew for those before.
func random(g *Guest, m memory, args []uint64) errno {
	if g.Process.Starved() {
		return ioError
	}
	g.drawn++
	key := g.Process.Draw("guest").With(uint64(g.Number)).With(g.told).With(g.drawn)
	b, ok := m.Read(uint32(args[0]), uint32(args[1]))
	if !ok {
		return fault
	}
	for i := range b {
		b[i] = byte(key.With(uint64(i)))
	}
	return success
}
