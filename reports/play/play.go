// Package play makes the playground: a static site whose page runs the simulator in the browser. It is built from the sources,
// with the Go toolchain, which compiles package play/browser to WebAssembly and has the script that starts such programs.
package play

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed site
var site embed.FS

// Names of what is not in the folder site.
const (
	// engine is the simulator. A page unpacks it, so that it is small on servers that compress nothing.
	engine = "engine.wasm.gz"
	// starter is Go's own script.
	starter = "wasm_exec.js"
	// worker is the script that makes the site work offline, in which version stands for what the site consists of.
	worker  = "offline.js"
	version = "VERSION"
)

// Names are the names of a site's files, sorted.
func Names() []string {
	entries, err := fs.ReadDir(site, "site")
	if err != nil {
		panic(err) // it is part of the program
	}
	names := []string{engine, starter}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// Source is the folder of the engine's program in the project's directory.
const Source = "reports/play/browser"

// Build makes the site from the sources in the project's directory: its files, by name. The error is that of the context, or
// says what the toolchain said.
func Build(ctx context.Context, project string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range Names() {
		if name == engine || name == starter {
			continue
		}
		data, err := site.ReadFile("site/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	root, err := run(ctx, project, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if files[starter], err = os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", starter)); err != nil {
		return nil, err
	}
	if files[engine], err = compile(ctx, project); err != nil {
		return nil, err
	}
	files[worker] = bytes.ReplaceAll(files[worker], []byte(version), []byte(digest(files)))
	return files, nil
}

// compile makes the engine, packed.
func compile(ctx context.Context, project string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "redlocksim-play-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "engine.wasm")
	// Without symbols and paths it is smaller, and the same on every machine.
	if _, err := run(ctx, project, []string{"GOOS=js", "GOARCH=wasm"}, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "./"+Source); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// run runs the Go command, and returns what it prints.
func run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// digest stands for what files hold.
func digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		sum.Write(files[name])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}
