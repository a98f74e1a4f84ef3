package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"redlocksim/internal/wasmtest"
	"redlocksim/locks"
)

// The scripts in testdata/locks put locks to the test: $NAIVE is the program of one, and $LOCKS the directory of all.
func TestScriptsOnLocks(t *testing.T) {
	t.Parallel()
	naive := wasmtest.Build(t, filepath.Join("..", "..", "locks", "naive"))
	locks, err := filepath.Abs(filepath.Join("..", "..", "locks"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "locks"),
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("NAIVE", naive)
			env.Setenv("LOCKS", locks)
			env.Setenv("HOME", os.Getenv("HOME")) // where Go keeps modules, and programs are kept that were compiled
			return nil
		},
	})
}

// What is kept of tier live is of no use once the lock's program, its adapter or how it is started is another.
func TestInputsOfLiveRuns(t *testing.T) {
	dir := t.TempDir()
	program, adapter, about := filepath.Join(dir, "program"), filepath.Join(dir, "lock", "main.go"), filepath.Join(dir, "lock", "lock.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	of := func(args string) string {
		t.Helper()
		on, err := inputs(&locks.Lock{Dir: filepath.Dir(adapter)}, program, locks.Setting{Args: args})
		if err != nil {
			t.Fatal(err)
		}
		return on
	}
	write(program, "1")
	write(adapter, "1")
	write(about, "1")
	first := of("")
	write(about, "2") // what runs are called, and why
	if of("") != first {
		t.Error("runs are made again although nothing has changed that they depend on")
	}
	seen := []string{first, of("--other")}
	write(program, "2")
	seen = append(seen, of(""))
	write(adapter, "2")
	seen = append(seen, of(""))
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 4 {
		t.Errorf("%q", seen)
	}
}
