package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlocksim/internal/outfile"
)

// A command that an interrupt ends while it writes a file leaves no part of one behind: the file is there whole, or as it was.
func TestAnInterruptLeavesNoPartOfAFile(t *testing.T) {
	t.Parallel() // with others that wait for processes
	dir := t.TempDir()
	scenario, out := filepath.Join(dir, "many.yaml"), filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	text := `title: a great many cycles
source: none
explanation: Its history takes a while to write.
claim: holds
clients: [a, b]
duration: 24h
timeline:
  - {at: 0s, client: a, repeat: 600, do: [lock, update, unlock]}
  - {at: 0s, client: b, repeat: 600, do: [lock, update, unlock]}
expect: {findings: safe, unavailable: {at-most: 1h}}
`
	if err := os.WriteFile(scenario, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, "history.jsonl")
	args := []string{"run", scenario, "--history", path}
	if said, err := command(args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		interrupted := false
		for try := 0; try < 20 && !interrupted; try++ {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			interrupted = interrupt(t, signal, out, command(args...))
			entries, err := os.ReadDir(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() != filepath.Base(path) {
					t.Errorf("%v: %s was left", signal, e.Name())
				}
			}
			if there, err := os.ReadFile(path); err == nil && string(there) != string(whole) {
				t.Errorf("%v: the file has %d bytes of %d", signal, len(there), len(whole))
			}
		}
		if !interrupted {
			t.Errorf("not tested: every command was over before %v", signal)
		}
	}
}

// interrupt signals a command once it has begun to write in a directory, and says whether that ended it. Any other end than a
// good one fails the test.
func interrupt(t *testing.T, signal os.Signal, out string, cmd *exec.Cmd) bool {
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its state
	}()
	for over := false; !over && !begun(t, out); {
		select {
		case <-ended:
			over = true
		case <-time.After(100 * time.Microsecond):
		}
	}
	_ = cmd.Process.Signal(signal) // it may be over
	<-ended
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == signal {
		return true
	}
	if code := cmd.ProcessState.ExitCode(); code != exitOK {
		t.Fatalf("%v: exit code %d\n%s", signal, code, &said)
	}
	return false
}

// begun says whether a file is being written in a directory.
func begun(t *testing.T, dir string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, outfile.TempPattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}
