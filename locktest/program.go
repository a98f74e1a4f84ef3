package locktest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"redlocksim/internal/input"
	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// program is the lock program of a Setup.
type program struct {
	*programs.Program
	// text is what the Setup says, and command what takes its place in a command line: there a directory is a file.
	text, command string
	// build is the command that makes that file; empty if it is there.
	build string
}

// foreign is the program as the simulator takes it; nil for nil.
func (p *program) foreign() *scenarios.Foreign {
	if p == nil {
		return nil
	}
	return p.Foreign()
}

// unfit says why an experiment says nothing about the program; nil if it does, or if p is nil. What is assumed is for the
// caller to say.
func (p *program) unfit(s *scenarios.Scenario) error {
	if p == nil {
		return nil
	}
	return p.UnfitAtAnyBudget(s)
}

// repeat is the command that repeats a run of the program.
func (p *program) repeat(seed uint64) string {
	run := fmt.Sprintf("redlocksim run FILE --seed %d --lock %s", seed, shell.Quote(p.command))
	if p.build != "" {
		run = p.build + " && " + run
	}
	return run
}

// loadProgram makes a program of what a Setup says.
func loadProgram(text string) (*program, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("there is nothing but spaces: want a .wasm file, or the directory of a Go program, and its arguments")
	}
	file := words[0]
	p := &program{text: text, command: text}
	info, err := os.Stat(file)
	var wasm []byte
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		name, err := nameOf(file)
		if err != nil {
			return nil, err
		}
		p.command = strings.Join(append([]string{filepath.Join(file, name)}, words[1:]...), " ")
		p.build = fmt.Sprintf("GOOS=wasip1 GOARCH=wasm go build -C %s -o %s .", shell.Quote(file), shell.Quote(name))
		if wasm, err = built(file); err != nil {
			return nil, err
		}
		file = name
	case !strings.HasSuffix(file, ".wasm"):
		return nil, fmt.Errorf("%s is neither a .wasm file nor the directory of a Go program", file)
	default:
		if wasm, err = input.ReadRegular(file, programs.MaxBytes); err != nil {
			return nil, err
		}
	}
	if p.Program, err = compile(filepath.Base(file), wasm, words[1:]); err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	return p, nil
}

// nameOf is the name of the WebAssembly file that a directory is compiled to.
func nameOf(dir string) (string, error) {
	whole, err := filepath.Abs(dir)
	return filepath.Base(whole) + ".wasm", err
}

// cache keeps what has been done about programs until the process ends.
var cache = struct {
	sync.Mutex
	built    map[string][]byte // by directory
	compiled map[string]*programs.Program
}{built: map[string][]byte{}, compiled: map[string]*programs.Program{}}

// built is the WebAssembly of the Go program in a directory. It is built once in a process.
func built(dir string) ([]byte, error) {
	cache.Lock()
	defer cache.Unlock()
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if wasm := cache.built[whole]; wasm != nil {
		return wasm, nil
	}
	temporary, err := os.MkdirTemp("", "locktest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	file := filepath.Join(temporary, "program.wasm")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	var said bytes.Buffer
	build.Stderr = &said
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("%s cannot be built for WebAssembly: %w\n%s", dir, err, strings.TrimSpace(said.String()))
	}
	wasm, err := input.ReadRegular(file, programs.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s is no Go program: %w", dir, err)
	}
	cache.built[whole] = wasm
	return wasm, nil
}

// compile makes a program with its arguments: it is compiled once in a process, and the result is kept where redlocksim keeps
// it.
func compile(name string, wasm []byte, args []string) (*programs.Program, error) {
	cache.Lock()
	defer cache.Unlock()
	key := fmt.Sprintf("%x %q %q", sha256.Sum256(wasm), name, args)
	if p := cache.compiled[key]; p != nil {
		return p, nil
	}
	p, err := programs.Compile(name, wasm, args, programs.CacheDir())
	if err != nil {
		return nil, err
	}
	cache.compiled[key] = p
	return p, nil
}
