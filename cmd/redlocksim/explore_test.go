package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// command is a process of the command.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// A search that is killed at any moment and resumed finds what one that was left alone finds, file by file.
func TestASearchSurvivesBeingKilled(t *testing.T) {
	const kills = 20
	args := func(dir string, more ...string) []string {
		return append([]string{"explore", "--beyond", "--seeds", "90", "--generation", "15", "--dir", dir}, more...)
	}
	left := filepath.Join(t.TempDir(), "left-alone")
	start := time.Now()
	if out, err := command(args(left)...).CombinedOutput(); err == nil {
		t.Fatalf("nothing found: %v\n%s", err, out)
	}
	took := time.Since(start)

	killed := filepath.Join(t.TempDir(), "killed")
	early := 0
	for range kills {
		cmd := command(args(killed, "--resume")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(took / 6))
		if cmd.Process.Kill() == nil {
			early++
		}
		_ = cmd.Wait() // it was killed
	}
	if early == 0 {
		t.Error("every run was over before it was killed")
	}
	if out, err := command(args(killed, "--resume")...).CombinedOutput(); err == nil {
		t.Fatalf("nothing found:\n%s", out)
	}
	want, got := contents(t, left), contents(t, killed)
	if !slices.EqualFunc(want, got, func(a, b file) bool { return a.name == b.name && bytes.Equal(a.data, b.data) }) {
		t.Errorf("the files differ: %d and %d", len(want), len(got))
		for _, f := range got {
			t.Logf("%s: %d bytes", f.name, len(f.data))
		}
	}
}

type file struct {
	name string
	data []byte
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) []file {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []file
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{e.Name(), data})
	}
	return all
}
