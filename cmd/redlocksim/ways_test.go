package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/longest"
	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
)

// The ways from a lock to a verdict work as they stand on their page, from a folder that has nothing but the repository, and
// end as the page says.
func TestWaysToAVerdict(t *testing.T) {
	longest.Only(t, "builds what each way builds")
	page, err := os.ReadFile("../../docs/lock-programs.md")
	if err != nil {
		t.Fatal(err)
	}
	ways := []struct {
		name, needs string
		code        exitcode.Code
		says        string
	}{
		{"a lock in Go, in the simulator", "", exitOK, `(?s)\nverdict +two holders \(lease-overlap\)\n.*\ntwo holders \(lease-overlap\): breaks, like Redlock\n`},
		{"Python", "python3", exitSafety, `\nNOT AS EXPECTED: two holders \(lease-overlap\); a sound Redlock under the same faults: holds\n`},
		{"Node", "node", exitSafety, `\nNOT AS EXPECTED: two holders \(lease-overlap\); a sound Redlock under the same faults: holds\n`},
		{"go test", "", exitOK, `(?m)^ok `},
		{"a history", "", exitSafety, `^history.jsonl: BAD\n  two holders \(lease-overlap\): process b acquired the lock while process a held it`},
	}
	scripts := regexp.MustCompile("(?ms)^```bash\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(scripts) != len(ways) {
		t.Fatalf("%d ways on the page, want %d", len(scripts), len(ways))
	}
	bin := commandOnPath(t)
	for i, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			follow := func(t testing.TB) {
				cmd := exec.Command("bash", "-e", "-c", scripts[i][1])
				cmd.Dir = emptyFolder(t)
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=off")
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if code := cmd.ProcessState.ExitCode(); code != int(way.code) || !regexp.MustCompile(way.says).Match(out) {
					t.Errorf("%v; want exit code %d and %s\n%s\n%s%s", err, way.code, way.says, scripts[i][1], out, &stderr)
				}
			}
			if way.needs == "" {
				follow(t)
				return
			}
			redisserver.Program(t)
			needs(t, way.needs)
			retry.Test(t, 50*time.Millisecond, func(a *retry.T) { follow(a) })
		})
	}
}

// commandOnPath is a directory with the command as users have it.
func commandOnPath(t *testing.T) string {
	t.Helper()
	this, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n" + asCommand + "=1 exec '" + this + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "redlocksim"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// emptyFolder is a directory with nothing but the repository.
func emptyFolder(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(root, filepath.Join(dir, "redlocksim")); err != nil {
		t.Fatal(err)
	}
	return dir
}
