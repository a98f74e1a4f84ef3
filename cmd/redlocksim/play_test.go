package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"redlocksim/play"
)

// The site is written as a whole, and over an older one.
func TestPlayExports(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the simulator for browsers")
	}
	dir := filepath.Join(t.TempDir(), "public", "playground")
	t.Chdir("../..")
	for range 2 {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"play", "--export", dir}, &stdout, &stderr); code != exitOK {
			t.Fatalf("exit %d: %s", code, &stderr)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range play.Names() {
		if i >= len(entries) || entries[i].Name() != name {
			t.Fatalf("there are %v, want %v", entries, play.Names())
		}
		if info, err := entries[i].Info(); err != nil || info.Size() == 0 {
			t.Errorf("%s is empty: %v", name, err)
		}
	}
	if len(entries) != len(play.Names()) {
		t.Errorf("there are %v, want %v", entries, play.Names())
	}
}
