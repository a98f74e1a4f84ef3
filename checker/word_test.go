package checker_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redlocksim/checker"
)

// declared are the kinds of findings that a package declares.
func declared(t *testing.T, dir string) (kinds []checker.Kind) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 || spec.Type == nil {
				return true
			}
			kind := false
			switch x := spec.Type.(type) {
			case *ast.Ident:
				kind = x.Name == "Kind"
			case *ast.SelectorExpr:
				kind = x.Sel.Name == "Kind"
			}
			value, isText := spec.Values[0].(*ast.BasicLit)
			if kind && isText {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, checker.Kind(text))
			}
			return true
		})
	}
	return kinds
}

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
	kinds := slices.Concat(declared(t, "."), declared(t, "foreign"))
	if len(kinds) < 17 {
		t.Fatalf("only %v are declared", kinds)
	}
	for _, k := range kinds {
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
