package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands print into the documentation")

const readme = "../../README.md"

// The pages that the tests read.
const (
	counterexample = "../../docs/start.md"
	searching      = "../../docs/searching.md"
	choosing       = "../../docs/operate.md"
)

// between is the part of text after start and before end, and where it is.
func between(t *testing.T, text, start, end string) (part string, from, to int) {
	t.Helper()
	from = strings.Index(text, start)
	if from < 0 {
		t.Fatalf("the page has no %q", start)
	}
	from += len(start)
	length := strings.Index(text[from:], end)
	if length < 0 {
		t.Fatalf("the page has no %q after %q", end, start)
	}
	return text[from : from+length], from, from + length
}

func TestTheCounterexampleIsARealRun(t *testing.T) {
	text, err := os.ReadFile(counterexample)
	if err != nil {
		t.Fatal(err)
	}
	shown, from, to := between(t, string(text), "$ go run ./cmd/redlocksim run 17-clock-jump\n", "```\n")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"run", "17-clock-jump"}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	if stdout.String() == shown {
		return
	}
	if !*update {
		t.Fatalf("the page shows\n%s\nand the run prints\n%s\n(go test ./cmd/redlocksim -update writes it)", shown, &stdout)
	}
	changed := string(text[:from]) + stdout.String() + string(text[to:])
	if err := os.WriteFile(counterexample, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestTheScenarioOfOnesOwnIsAsThePageSays(t *testing.T) {
	text, err := os.ReadFile(searching)
	if err != nil {
		t.Fatal(err)
	}
	file, _, _ := between(t, string(text), "```yaml\n", "```\n")
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"as shown":        {file, exitSafety},
		"restarted later": {strings.Replace(file, "restart-after: 1s", "restart-after: 2100ms", 1), exitOK},
	} {
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{"run", path}, &stdout, &stderr); code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", name, code, c.code, &stdout, &stderr)
		}
	}
}
