package locktest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"redlocksim/internal/input"
	"redlocksim/internal/shell"
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

// repeat is the command that repeats a run of the program.
func (p *program) repeat(seed uint64) string {
	run := fmt.Sprintf("redlocksim run FILE --seed %d --lock %s", seed, shell.Quote(p.command))
	if p.build != "" {
		run = p.build + " && " + run
	}
	return run
}

// loaded are the programs by what a Setup says and where that is, until the process ends: the go command builds each once.
var loaded = struct {
	sync.Mutex
	of map[string]*program
}{of: map[string]*program{}}

// loadProgram makes a program of what a Setup says.
func loadProgram(text string) (*program, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("there is nothing but spaces: want a .wasm file, or the directory of a Go program, and its arguments")
	}
	file, args := words[0], words[1:]
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	key := fmt.Sprintf("%q %q", text, whole)
	if p := loaded.of[key]; p != nil {
		return p, nil
	}
	p := &program{text: text, command: text}
	name := filepath.Base(file)
	var wasm []byte
	switch {
	case info.IsDir():
		name = filepath.Base(whole) + ".wasm"
		p.command = strings.Join(append([]string{filepath.Join(file, name)}, args...), " ")
		p.build = fmt.Sprintf("GOOS=wasip1 GOARCH=wasm go build -C %s -o %s .", shell.Quote(file), shell.Quote(name))
		wasm, err = build(file)
	case !strings.HasSuffix(file, ".wasm"):
		return nil, fmt.Errorf("%s is neither a .wasm file nor the directory of a Go program", file)
	default:
		wasm, err = input.ReadRegular(file, programs.MaxBytes)
	}
	if err != nil {
		return nil, err
	}
	if p.Program, err = programs.Compile(name, wasm, args, programs.CacheDir()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	loaded.of[key] = p
	return p, nil
}

// build is the WebAssembly of the Go program in a directory.
func build(dir string) ([]byte, error) {
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
	return wasm, nil
}
