package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Config is what a guest has to do with.
type Config struct {
	// Process is the process that it is.
	Process *kernel.Process
	// Args are its arguments, the name of the program first.
	Args []string
	// Number tells it from other guests of the process.
	Number int
	// Dial makes a connection to an address; changed is as for redis.Streaming. The error says that there is no such address.
	Dial func(address string, changed func()) (redis.Stream, error)
	// Line is given what the guest writes to its standard output, line by line. It must not wait.
	Line func(line []byte)
}

// Guest is a program that runs in a process.
type Guest struct {
	Config
	program *Program
	waiter  driver.Waiter
	files   map[int32]*file
	next    int32 // the descriptor of the next connection
	input   []byte
	output  lines
	log     lines
	last    []string // of its log

	told   uint64            // how many lines it was given
	drawn  uint64            // how often it has asked for random bytes since
	turns  api.MutableGlobal // that it has left; nil before it begins
	raised any               // what the simulator itself panicked with
	ended  bool
}

// Start has the program run in a process, from the next step on.
func (p *Program) Start(cfg Config) *Guest {
	g := &Guest{Config: cfg, program: p, waiter: cfg.Process.Tasks().NewWaiter(), files: map[int32]*file{}, next: firstConnection,
		output: lines{limit: p.limits.Output}, log: lines{limit: p.limits.Output}}
	cfg.Process.Go(g.run)
	return g
}

// Tell gives the guest a line to read from its standard input.
func (g *Guest) Tell(line []byte) {
	g.told++
	g.drawn = 0
	g.input = append(append(g.input, line...), '\n')
	g.wake()
}

// ErrFailed is what a Failure matches.
var ErrFailed = errors.New("the program has failed")

// Failure is why a run of the simulator cannot go on with a guest, and proves nothing.
type Failure struct {
	Process string
	At      kernel.True
	What    string
	// Log is the end of what the guest has written to its standard error.
	Log string
}

// OfProgram says that it is the program's failure, and not the simulator's.
func (f *Failure) OfProgram() {}

func (f *Failure) Unwrap() error { return ErrFailed }

func (f *Failure) Error() string {
	text := fmt.Sprintf("the program of %s, at %.6fs: %s", f.Process, float64(f.At)/1e9, f.What)
	if f.Log != "" {
		text += "; it has logged: " + f.Log
	}
	return text
}

// Fail ends the run of the simulator, because of something that the guest did.
func (g *Guest) Fail(format string, args ...any) {
	p := g.Process
	p.Kernel().Fail(&Failure{Process: p.Name(), At: p.Now(), What: fmt.Sprintf(format, args...), Log: g.whatItLogged()})
}

// stop ends the run and the guest.
func (g *Guest) stop(format string, args ...any) {
	g.Fail(format, args...)
	g.Process.Checkpoint()
	g.wait() // which does not return: the run is over before the next step
}

type guestKey struct{}

// run runs the program until it ends or the run is over.
func (g *Guest) run() {
	ctx := experimental.WithMemoryAllocator(context.WithValue(context.Background(), guestKey{}, g), &g.program.memories)
	module, err := g.program.runtime.InstantiateModule(ctx, g.program.module, g.module().WithStartFunctions())
	if err == nil {
		g.turns = module.ExportedGlobal(turnsExport).(api.MutableGlobal)
		_, err = module.ExportedFunction("_start").Call(ctx)
		_ = module.Close(ctx)
	}
	g.ended = true
	if g.raised != nil {
		panic(g.raised)
	}
	var exited *sys.ExitError
	switch {
	case g.Process.Kernel().Closed():
	case errors.As(err, &exited):
		g.Fail("it has exited with status %d%s", exited.ExitCode(), g.ofMemory())
	case err != nil && g.left() <= 0:
		g.Fail("it has made more than %d turns of loops and calls of functions", g.program.limits.Turns)
	case err != nil:
		text, _, _ := strings.Cut(err.Error(), "\n")
		g.Fail("it has crashed: %s", text)
	default:
		g.Fail("it has exited with status 0")
	}
}

// left is how many turns it has left.
func (g *Guest) left() int64 {
	if g.turns == nil { // it never began
		return int64(g.program.limits.Turns)
	}
	return int64(g.turns.Get())
}

// asks charges the guest for what it asks for.
func (g *Guest) asks() {
	if g.turns != nil {
		g.turns.Set(uint64(g.left() - turnsPerCall))
	}
}

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

// ofMemory says how much memory there is, if it has exited for want of it, as far as it says so.
func (g *Guest) ofMemory() string {
	if !strings.Contains(g.whatItLogged(), "out of memory") {
		return ""
	}
	return fmt.Sprintf(", having no more than %d MiB of memory", g.program.limits.Memory>>20)
}

// wake has the guest look what there is for it, if it waits.
func (g *Guest) wake() {
	if !g.ended {
		g.waiter.Wake()
	}
}

// wait has others go on until the guest is woken.
func (g *Guest) wait() {
	g.waiter.Wait(context.Background())
}

// lines takes what is written apart into lines.
type lines struct {
	limit   int
	written int
	rest    []byte
}

// maxLine is the length of the longest line that a guest may write, without its end.
const maxLine = 1 << 20

// take gives f each line that is whole. It is false if there is too much.
func (l *lines) take(b []byte, f func(line []byte)) bool {
	l.written += len(b)
	l.rest = append(l.rest, b...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			break
		}
		f(line)
		l.rest = rest
	}
	return l.written <= l.limit && len(l.rest) <= maxLine
}

// logged is how many lines of its log are kept of a guest, and shown is how many of them an error shows.
const logged, shown = 500, 20

// whatItLogged is the lines of the guest's log from where a Go program says why it ends, or else the last ones.
func (g *Guest) whatItLogged() string {
	why := func(line string) bool {
		return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	}
	all := g.last
	if i := slices.IndexFunc(all, why); i >= 0 {
		all = all[i:min(len(all), i+shown)]
	}
	return strings.Join(all[max(0, len(all)-shown):], "\n")
}

// keep keeps a line of the guest's log.
func (g *Guest) keep(line []byte) {
	if g.last = append(g.last, string(line)); len(g.last) > logged {
		g.last = g.last[1:]
	}
}
