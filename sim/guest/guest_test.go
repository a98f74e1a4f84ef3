package guest_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redlocksim/internal/built"
	"redlocksim/sim"
	"redlocksim/sim/guest"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// TestMain sees that no goroutine outlives its run, killed guests' included.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testProgram = struct {
	sync.Once
	wasm []byte
}{}

// load gives testdata/program.
func load(t *testing.T, limits guest.Limits) *guest.Program {
	t.Helper()
	testProgram.Do(func() {
		var err error
		if testProgram.wasm, err = os.ReadFile(built.Wasm(t, "testdata/program")); err != nil {
			t.Fatal(err)
		}
	})
	p, err := guest.Load(testProgram.wasm, built.Cache(t), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// latency is that of each message.
const latency = time.Millisecond

// runFor runs the program in a client for ten seconds, with nodes A and B, and gives what it has written.
func runFor(t *testing.T, p *guest.Program, arrange func(*sim.World, *guest.Guest), args ...string) (written []string, trace string, err error) {
	t.Helper()
	w := sim.NewWorld(sim.Config{Seed: 1, Nodes: []string{"A", "B"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Uniform(latency, latency)}, wire.New())
	defer func() {
		if v := recover(); v != nil {
			failed, is := v.(*guest.Failure)
			if !is {
				panic(v)
			}
			err = failed
		}
		trace = w.TraceHash()
		if closed := w.Close(); closed != nil {
			t.Error(closed)
		}
	}()
	c := w.Clients[0]
	dials := uint64(0)
	g := p.Start(guest.Config{Process: c, Args: append([]string{"program"}, args...), Line: func(line []byte) { written = append(written, string(line)) },
		Dial: func(address string, changed func()) (redis.Stream, error) {
			s := w.Server(strings.TrimSuffix(address, ":6379"))
			if s == nil {
				return nil, errors.New("no such node")
			}
			dials++
			return w.Dial(c, s, c.Draw("dial").With(dials), changed)
		}})
	if arrange != nil {
		arrange(w, g)
	}
	w.Kernel.Run(kernel.True(10 * time.Second))
	return written, "", nil
}

// A program that does what no lock does ends the run with an error that says which, when and what.
func TestProgramsThatFail(t *testing.T) {
	for name, want := range map[string]string{
		"exits":        "the program of c, at 0.000000s: it has exited with status 3; it has logged: no reason",
		"panics":       "it has exited with status 2; it has logged: panic: on purpose",
		"loops":        "it has made more than 200000000 turns of loops and calls of functions",
		"floods":       "it has written more than 100000 bytes to its standard output",
		"endless-line": "it has written more than 100000 bytes to its standard output",
		"uses-memory":  "it has exited with status 2, having no more than 64 MiB of memory; it has logged: fatal error: out of memory",
	} {
		t.Run(name, func(t *testing.T) {
			limits := guest.Limits{Output: 100_000, Memory: 64 << 20}
			if name == "loops" {
				limits.Turns = 200_000_000
			}
			_, _, err := runFor(t, load(t, limits), nil, name)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

func TestTooManyCalls(t *testing.T) {
	_, _, err := runFor(t, load(t, guest.Limits{Turns: 10_000_000}), nil, "reads-the-clock")
	if err == nil || !strings.Contains(err.Error(), "it has made more than 10000000 turns") {
		t.Error(err)
	}
}

// A loop that waits for its clock to advance comes to an end: readings take time.
func TestReadingsTakeTime(t *testing.T) {
	written, _, err := runFor(t, load(t, guest.Limits{}), nil, "reads-the-clock")
	if err != nil || !slices.Equal(written, []string{"done"}) {
		t.Errorf("%v: %q", err, written)
	}
}

func TestWhatIsNoProgram(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "not a WebAssembly program",
		"#!/bin/sh\necho hello\n": "not a WebAssembly program",
		"\x00asm\x01\x00\x00\x00": "the module has no _start",
		// (module (import "env" "f" (func)) (func (export "_start")))
		"\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x02\x09\x01\x03env\x01f\x00\x00\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x01\x0a\x04\x01\x02\x00\x0b": `the program imports f from "env"`,
	} {
		p, err := guest.Load([]byte(text), "", guest.Limits{})
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A guest has no files, and what it says of descriptors takes no memory.
func TestThereAreNoFiles(t *testing.T) {
	const wasi = "\x16wasi_snapshot_preview1"
	// (call $proc_exit (call $fd_renumber (i32.const 0) (i32.const 0x7fffffff)))
	p, err := guest.Load([]byte("\x00asm\x01\x00\x00\x00"+
		"\x01\x0e\x03\x60\x02\x7f\x7f\x01\x7f\x60\x01\x7f\x00\x60\x00\x00"+
		"\x02\x49\x02"+wasi+"\x0bfd_renumber\x00\x00"+wasi+"\x09proc_exit\x00\x01"+
		"\x03\x02\x01\x02\x05\x03\x01\x00\x01\x07\x0a\x01\x06_start\x00\x02"+
		"\x0a\x10\x01\x0e\x00\x41\x00\x41\xff\xff\xff\xff\x07\x10\x00\x10\x01\x0b"), "", guest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const notThere = "it has exited with status 52"
	if _, _, err := runFor(t, p, nil); err == nil || !strings.Contains(err.Error(), notThere) {
		t.Errorf("%v, want %s", err, notThere)
	}
}

// The clocks of a guest are its process's, and what it waits for passes on its monotonic clock.
func TestClocksAndWaits(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*sim.World, *guest.Guest)
		want    []string
	}{
		"usual": {nil, []string{"0 1s 22:13:21.000", "1 1s 22:13:22.000", "2 1s 22:13:23.000"}},
		"the rate changes while it waits": {func(w *sim.World, _ *guest.Guest) {
			w.Kernel.After(500*time.Millisecond, func() { w.Clients[0].Clock().SetRate(-500_000_000) })
		}, []string{"0 1s 22:13:21.000", "1 1s 22:13:22.000", "2 1s 22:13:23.000"}}, // after 1.5 s, 3.5 s and 5.5 s
		"the wall clock steps": {func(w *sim.World, _ *guest.Guest) {
			w.Kernel.After(500*time.Millisecond, func() { w.Clients[0].Clock().Step(time.Hour) })
		}, []string{"0 1s 23:13:21.000", "1 1s 23:13:22.000", "2 1s 23:13:23.000"}},
		"it is paused": {func(w *sim.World, _ *guest.Guest) {
			w.Kernel.After(1500*time.Millisecond, w.Clients[0].Pause)
			w.Kernel.After(4*time.Second, w.Clients[0].Resume)
		}, []string{"0 1s 22:13:21.000", "1 3s 22:13:24.000", "2 1s 22:13:25.000"}},
		"its machine is suspended": {func(w *sim.World, _ *guest.Guest) {
			w.Kernel.After(1500*time.Millisecond, w.Clients[0].Suspend)
			w.Kernel.After(4*time.Second, w.Clients[0].Resume)
		}, []string{"0 1s 22:13:21.000", "1 1s 22:13:24.500", "2 1s 22:13:25.500"}},
		"it crashes": {func(w *sim.World, _ *guest.Guest) {
			w.Kernel.After(1500*time.Millisecond, w.Clients[0].Crash)
		}, []string{"0 1s 22:13:21.000"}},
	} {
		t.Run(name, func(t *testing.T) {
			var at []time.Duration
			written, _, err := runFor(t, load(t, guest.Limits{}), func(w *sim.World, g *guest.Guest) {
				line := g.Line
				g.Line = func(b []byte) { at = append(at, time.Duration(w.Kernel.Now()).Round(time.Millisecond)); line(b) }
				if c.arrange != nil {
					c.arrange(w, g)
				}
			}, "sleeps")
			if err != nil || !slices.Equal(written, c.want) {
				t.Errorf("%v: %q, want %q", err, written, c.want)
			}
			if strings.HasPrefix(name, "the rate") && fmt.Sprint(at) != "[1.5s 3.5s 5.5s]" {
				t.Errorf("with a clock of half the rate it writes at %v", at)
			}
		})
	}
}

func TestLinesToAGuest(t *testing.T) {
	written, _, err := runFor(t, load(t, guest.Limits{}), func(w *sim.World, g *guest.Guest) {
		g.Tell([]byte("at once"))
		w.Kernel.After(2*time.Second, func() { g.Tell([]byte("one")); g.Tell([]byte("two")) })
	}, "echoes")
	if want := []string{"at once 22:13:20.000", "one 22:13:22.000", "two 22:13:22.000"}; err != nil || !slices.Equal(written, want) {
		t.Errorf("%v: %q, want %q", err, written, want)
	}
}

// What becomes of a connection is told as the operating system tells it.
func TestConnections(t *testing.T) {
	const get = "A:6379 SET k v PX 1000;GET k"
	for name, c := range map[string]struct {
		arrange func(*sim.World)
		args    []string
		want    []string
	}{
		"usual":           {nil, []string{get}, []string{`"+OK\r\n"`, `"$1\r\nv\r\n"`}},
		"the key expires": {nil, []string{"A:6379 SET k v PX 1000;wait;GET k"}, []string{`"+OK\r\n"`, `"$-1\r\n"`}},
		"no such node":    {nil, []string{"C:6379"}, []string{"dial tcp C:6379: Invalid argument"}},
		"the process is down": {func(w *sim.World) { _ = w.Server("A").Kill() }, []string{get, "B:6379 GET k"},
			[]string{"dial tcp A:6379: Connection refused", `"$-1\r\n"`}},
		"the machine is off":    {func(w *sim.World) { _ = w.Server("A").LosePower() }, []string{get}, []string{"dial tcp A:6379: context deadline exceeded"}},
		"the process is paused": {func(w *sim.World) { w.Server("A").Pause() }, []string{get}, []string{"read tcp :0->:0: i/o timeout", "read tcp :0->:0: i/o timeout"}},
		"a reset while nothing is asked": {func(w *sim.World) {
			w.Kernel.After(500*time.Millisecond, w.Network.Link("c", "A").Reset)
		}, []string{"A:6379 SET k v PX 1000;wait;GET k"}, []string{`"+OK\r\n"`, "write tcp :0->:0: fd_write: Connection reset by peer"}},
		"a reset while it reads": {func(w *sim.World) {
			link := w.Network.Link("c", "A")
			w.Kernel.After(500*time.Millisecond, func() { link.Hold(network.Replies) })
			w.Kernel.After(1500*time.Millisecond, link.Reset)
		}, []string{"A:6379 wait;GET k"}, []string{"read tcp :0->:0: fd_read: Connection reset by peer"}},
		"a cut while it reads": {func(w *sim.World) {
			w.Kernel.After(500*time.Millisecond, func() { w.Network.Link("c", "A").Cut(network.Replies) })
			w.Kernel.After(1500*time.Millisecond, func() { w.Network.Link("c", "A").Mend(network.Replies) })
		}, []string{"A:6379 wait;GET k;GET k", "A:6379 GET k"}, []string{"read tcp :0->:0: i/o timeout", "read tcp :0->:0: i/o timeout", `"$-1\r\n"`}},
		"published": {func(w *sim.World) {
			w.Kernel.After(500*time.Millisecond, func() { w.Server("A").Publish("news", "hello") })
		}, []string{"A:6379 SUBSCRIBE news;read"}, []string{`"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"`, `"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n"`}},
		"a script": {nil, []string{"A:6379 SCRIPT LOAD return(1);EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0;SCRIPT FLUSH;SCRIPT EXISTS 930269f31393d0be681588b6ab08dccee7d6bb67"},
			[]string{`"$40\r\n930269f31393d0be681588b6ab08dccee7d6bb67\r\n"`, `":1\r\n"`, `"+OK\r\n"`, `"*1\r\n:0\r\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			written, _, err := runFor(t, load(t, guest.Limits{}), func(w *sim.World, _ *guest.Guest) {
				if c.arrange != nil {
					c.arrange(w)
				}
			}, append([]string{"dials"}, c.args...)...)
			if err != nil || !slices.Equal(written, c.want) {
				t.Errorf("%v: %q, want %q", err, written, c.want)
			}
		})
	}
}

// What no node understands, or what the simulated ones do not have, ends the run.
func TestCommandsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"A:6379 MULTI": "it has sent to a node: the simulated nodes have no command MULTI",
		"A:6379 EVAL redis.pcall(ARGV[1]) 0 SPOP": "it has sent to a node: in a script: the simulated nodes have no command SPOP",
		"A:6379 EVAL while(true)do(type)(1)end 0": "it has sent to a node: the script does not end: it has made 10000000 steps",
		"A:6379 SELECT 1":                         "it has sent to a node: the simulated nodes have one database: SELECT 1",
		"A:6379 SCRIPT KILL":                      "it has sent to a node: of SCRIPT the simulated nodes have LOAD, EXISTS and FLUSH",
	} {
		if _, _, err := runFor(t, load(t, guest.Limits{}), nil, "dials", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A guest with many goroutines does the same each time, to the byte, also in parallel with others.
func TestDeterminism(t *testing.T) {
	p := load(t, guest.Limits{})
	first, trace, err := runFor(t, p, nil, "draws")
	if err != nil || len(first) != 20 {
		t.Fatalf("%v: %q", err, first)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			again, traced, err := runFor(t, p, nil, "draws")
			if err != nil || !slices.Equal(first, again) || trace != traced {
				t.Errorf("%v: %s\n%q\n%s\n%q", err, trace, first, traced, again)
			}
		})
	}
	wait.Wait()
}
