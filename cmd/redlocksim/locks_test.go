package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"redlocksim/internal/built"
)

// The scripts in testdata/locks put locks to the test: $NAIVE is the program of one, and $LOCKS the directory of all.
func TestScriptsOnLocks(t *testing.T) {
	t.Parallel()
	naive := built.Wasm(t, filepath.Join("..", "..", "locks", "naive"))
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
