package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"redlocksim/internal/mark"
	"redlocksim/reports/play"
)

// The site is written as a whole, and over an older one.
func TestPlayExports(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the simulator for browsers")
	}
	dir := filepath.Join(t.TempDir(), "public", "playground")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	older := []byte("<!doctype html>\n" + mark.HTML + "\n")
	for _, name := range play.Names() {
		if err := os.WriteFile(filepath.Join(dir, name), older, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("../..")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"play", "--export", dir}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range play.Names() {
		if i >= len(entries) || entries[i].Name() != name {
			t.Fatalf("there are %v, want %v", entries, play.Names())
		}
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(data) == 0 || bytes.Equal(data, older) {
			t.Errorf("%s has %d bytes: %v", name, len(data), err)
		}
	}
	if len(entries) != len(play.Names()) {
		t.Errorf("there are %v, want %v", entries, play.Names())
	}
}
