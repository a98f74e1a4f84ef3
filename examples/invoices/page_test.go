package invoices

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// What the page shows is in the sources, which compile, but for its indentation.
func TestThePageShowsTheSources(t *testing.T) {
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	var sources string
	for _, file := range []string{"mailer.go", "mailer_test.go", "redsync/mailer.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources += flat(string(text)) + "\n"
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Errorf("%d blocks of code, there were more", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(sources, flat(block[1])) {
			t.Errorf("this is in no source:\n%s", block[1])
		}
	}
}

// The service as it was is a module of its own, which the other tests do not compile.
func TestTheOldServiceCompiles(t *testing.T) {
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir = "redsync"
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
