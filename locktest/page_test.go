package locktest_test

import (
	"os"
	"strings"
	"testing"
)

// TestThePageShowsOurTest: what docs/searching.md shows is TestOurLock, which compiles and passes here.
func TestThePageShowsOurTest(t *testing.T) {
	page, err := os.ReadFile("../docs/searching.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("ours_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## In your own tests\n")
	_, shown, _ := strings.Cut(section, "```go\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	_, test, ok := strings.Cut(string(source), "\n)\n\n")
	if !ok || shown != test {
		t.Errorf("the page shows\n%s\nand the test is\n%s", shown, test)
	}
}
