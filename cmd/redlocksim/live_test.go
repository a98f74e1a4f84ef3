//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/reports"
)

// A suite on real servers that is interrupted reports what it has, says what it has not run, and leaves nothing behind.
func TestAnInterruptedSuiteReportsWhatItHas(t *testing.T) {
	redisserver.Start(t) // skips where there is none
	temporary := t.TempDir()
	cmd := command("suite", "--tier", "live", "--filter", "^(05-single-instance|10-)", "--json", "-")
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // it is over, unless the test failed
	files := func() []string {
		found, _ := filepath.Glob(filepath.Join(temporary, "*")) // the pattern is right
		return found
	}
	for deadline := time.Now().Add(20 * time.Second); len(files()) == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is run\n%s", &stderr)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code tells
	if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(stderr.String(), "interrupted with") || !strings.Contains(stderr.String(), "no processes or files were left behind") {
		t.Errorf("exit code %d\n%s", code, &stderr)
	}
	var doc reports.Document
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, &stdout)
	}
	if n := len(doc.NotRun); n == 0 || len(doc.Scenarios)+n != 4 || !strings.HasSuffix(doc.NotRun[n-1].Why, ": interrupted") {
		t.Errorf("%d scenarios, not run: %v", len(doc.Scenarios), doc.NotRun)
	}
	if left := files(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
