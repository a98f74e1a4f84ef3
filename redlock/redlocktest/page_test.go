package redlocktest_test

import (
	"os"
	"strings"
	"testing"
)

// The code on the page about the library, and that in the package's documentation, is in example_test.go.
func TestPagesShowTheExample(t *testing.T) {
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	example := flat(read("example_test.go"))
	_, section, _ := strings.Cut(read("../../docs/library.md"), "\n## Test your own service\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, onPage, _ := strings.Cut(section, "```go\n")
	onPage, _, _ = strings.Cut(onPage, "```\n")
	var inDoc strings.Builder
	for line := range strings.Lines(read("nodes.go")) {
		if code, is := strings.CutPrefix(line, "//\t"); is {
			inDoc.WriteString(code)
		}
	}
	for where, shown := range map[string]string{"docs/library.md": onPage, "nodes.go": inDoc.String()} {
		if strings.Count(shown, "\n") < 6 || !strings.Contains(example, flat(shown)) {
			t.Errorf("%s shows what is not in example_test.go:\n%s", where, shown)
		}
	}
}
