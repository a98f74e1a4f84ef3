package locktest_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsOurTest: what the README shows is TestOurLock, which compiles and passes here.
func TestReadmeShowsOurTest(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("ours_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## In your own tests\n")
	_, shown, _ := strings.Cut(section, "```go\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	_, test, ok := strings.Cut(string(source), "\n)\n\n")
	if !ok || shown != test {
		t.Errorf("the README shows\n%s\nand the test is\n%s", shown, test)
	}
}
