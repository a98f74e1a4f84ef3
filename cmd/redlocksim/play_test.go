package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"redlocksim/internal/mark"
	"redlocksim/reports/play"
)

// The site is written as a whole, and over an older one. The engine is that of a project with another program in its place.
func TestPlayExports(t *testing.T) {
	project, dir := t.TempDir(), filepath.Join(t.TempDir(), "public", "playground")
	older := "<!doctype html>\n" + mark.HTML + "\n"
	files := map[string]string{filepath.Join(project, "go.mod"): "module redlocksim\n",
		filepath.Join(project, filepath.FromSlash(play.Source), "main.go"): "package main\n\nfunc main() {}\n"}
	for _, name := range play.Names() {
		files[filepath.Join(dir, name)] = older
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(project)
	var stdout, stderr bytes.Buffer
	if code := run([]string{"play", "--export", dir}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if data, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || len(data) == 0 || string(data) == older {
			t.Errorf("%s has %d bytes: %v", e.Name(), len(data), err)
		}
	}
	if !slices.Equal(names, play.Names()) {
		t.Errorf("there are %v, want %v", names, play.Names())
	}
}
