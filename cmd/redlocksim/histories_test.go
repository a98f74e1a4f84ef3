package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The examples of the page about histories run as they stand, and write what check can judge.
func TestExamplesOfHistories(t *testing.T) {
	text, err := os.ReadFile("../../docs/histories.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		block, file, history string
		command              []string
	}{
		{"```python\n", "example.py", "python.jsonl", []string{"python3"}},
		{"```js\n", "example.js", "node.jsonl", []string{"node"}},
		{"```go\n", "example.go", "go.jsonl", []string{"go", "run"}},
	} {
		t.Run(c.command[0], func(t *testing.T) {
			needs(t, c.command[0])
			program, _, _ := between(t, string(text), c.block, "```\n")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(program), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(c.command[0], append(c.command[1:], c.file)...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var stdout, stderr bytes.Buffer
			args := []string{"check", "--model", "owner", "--merge", "--clock-error", "1ms", filepath.Join(dir, c.history)}
			if code := run(args, &stdout, &stderr); code != exitOK || !bytes.Contains(stdout.Bytes(), []byte("0 of unknown outcome")) {
				t.Errorf("exit %d: %s%s", code, &stdout, &stderr)
			}
		})
	}
}
