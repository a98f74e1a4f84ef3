// Package programs is locks that are programs of their own, in the place of a scenario's protocol: each client has one, asks it
// for the lock in lines of JSON, and believes what it answers. See package lockprogram for the other end.
package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"redlocksim/internal/input"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs/conversation"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/guest"
	"redlocksim/sim/redis"
)

// Program is a lock program for the simulator.
type Program struct {
	// About is what it says of itself.
	About
	name    string
	args    []string
	wasm    []byte
	program *guest.Program
}

// CacheDir is where compiled programs are kept in the user's cache directory; empty, which is nowhere, if there is none.
func CacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "redlocksim", "programs")
}

// MaxBytes bounds the file of a program: some twenty times one of a lock with a library.
const MaxBytes = 256 << 20

// Load reads and compiles a program, with what it is to be given as arguments, and asks it what it is. cache is as for
// guest.Load.
func Load(file string, args []string, cache string) (*Program, error) {
	wasm, err := input.ReadRegular(file, MaxBytes)
	if err != nil {
		return nil, err
	}
	p, err := Compile(filepath.Base(file), wasm, args, cache)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// Compile is Load for a program that was read. name is what it is given as its own name.
func Compile(name string, wasm []byte, args []string, cache string) (*Program, error) {
	p, err := guest.Load(wasm, cache, guest.Limits{})
	if err != nil {
		return nil, err
	}
	x := &Program{name: name, args: append([]string{name}, args...), wasm: wasm, program: p}
	if err := x.ask(); err != nil {
		_ = p.Close() // it frees memory
		return nil, err
	}
	return x, nil
}

// Foreign is what scenarios.Options take.
func (p *Program) Foreign() *scenarios.Foreign {
	return &scenarios.Foreign{Name: p.Library + " " + p.Version + " (" + strings.Join(p.args, " ") + ")", Build: p.program.Hash(), New: p.start,
		Module:    &scenarios.Module{Name: p.name, Args: p.args[1:], Hash: p.program.Hash(), Wasm: p.wasm},
		IsProgram: true, Renews: p.Renews(), OneNode: p.IsOneNode(), Keys: p.patterns(), Reads: p.Reads, Unable: p.Unable}
}

// Close frees the program. No run may use it.
func (p *Program) Close() error { return p.program.Close() }

// start makes the lock of a client: it starts the program in its process.
func (p *Program) start(env protocols.Env) (protocols.Locker, error) {
	host, ok := env.Host.(interface{ Simulation() *protocols.Simulated })
	if !ok {
		return nil, fmt.Errorf("programs: %s is WebAssembly, for the simulator", p.name)
	}
	client := host.Simulation()
	nodes := map[string]*redis.Server{}
	var addresses []string
	for i, s := range client.World.Servers {
		address := fmt.Sprintf("10.0.0.%d:6379", i+1)
		nodes[address] = s
		if p.IsOneNode() && s.Name() == env.FirstNode {
			addresses = append([]string{address}, addresses...)
		} else {
			addresses = append(addresses, address)
		}
	}
	var x *conversation.Conversation
	g := p.program.Start(guest.Config{Process: client.Process, Args: p.args, Number: client.NewGuest(), Line: func(line []byte) { x.Hear(line) },
		Dial: func(address string, changed func()) (redis.Stream, error) {
			s := nodes[address]
			if s == nil {
				return nil, fmt.Errorf("no node has the address %q", address)
			}
			return client.World.Dial(client.Process, s, client.Key(), changed)
		}})
	x = conversation.Begin(env, conversation.Partner{Tell: g.Tell, Fail: g.Fail, Since: watchTaken(client, p.patterns()).since}, addresses)
	return x, nil
}

// ask asks the program for what it says of itself.
func (p *Program) ask() error {
	s := scenarios.Default()
	s.Name, s.Clients, s.Duration = "about", []string{"client-1"}, time.Second
	var asked *conversation.Conversation
	_, err := scenarios.Run(&s, scenarios.Options{Unwatched: true, Foreign: &scenarios.Foreign{IsProgram: true, New: func(env protocols.Env) (protocols.Locker, error) {
		l, err := p.start(env)
		asked, _ = l.(*conversation.Conversation)
		return l, err
	}}})
	switch {
	case err != nil:
		return err
	case asked.Ready() == nil:
		return fmt.Errorf("programs: %s is not ready %v after it was told to init", p.name, s.Duration)
	}
	if p.About = aboutOf(asked.Ready()); p.Server != lines.Redis {
		return fmt.Errorf("programs: %s needs %s on the nodes, which is there on tier live alone: build it for this machine", p.name, p.Server)
	}
	return nil
}
