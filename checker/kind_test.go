package checker_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
)

// Every kind of finding that there is has a word for people, and the page about the checker has it in its table with that
// word.
func TestEveryKindHasItsWord(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "checker.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, is := strings.Cut(string(page), "\n## The words\n")
	if !is {
		t.Fatal("docs/checker.md has no chapter with the words")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	told := map[checker.Kind]checker.Word{}
	for _, row := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \| (.+?) \|`).FindAllStringSubmatch(table, -1) {
		if !slices.Contains(checker.Words(), checker.Word(row[1])) {
			t.Errorf("the table has the word %q, which nobody uses", row[1])
		}
		for _, kind := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			told[checker.Kind(kind[1])] = checker.Word(row[1])
		}
	}
	var source string
	for _, file := range []string{"kind.go", "foreign/findings.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	for _, declared := range regexp.MustCompile(`Kind = "(.+)"`).FindAllStringSubmatch(source, -1) {
		k := checker.Kind(declared[1])
		if !slices.Contains(checker.Words(), k.Word()) || told[k] != k.Word() {
			t.Errorf("%s: the word is %q, and %q in docs/checker.md", k, k.Word(), told[k])
		}
		delete(told, k)
	}
	for k := range told {
		t.Errorf("docs/checker.md has %s, which is no kind of finding", k)
	}
	for _, w := range checker.Words() {
		if !strings.Contains(table, "| **"+string(w)+"** |") {
			t.Errorf("docs/checker.md does not have %q", w)
		}
	}
}
