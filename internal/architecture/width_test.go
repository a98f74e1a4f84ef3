package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is how many columns a line with a comment may have, and a tab counts as tab of them.
const (
	widest = 128
	tab    = 4
)

// tooWide are the lines of a file that are wider than that and on which a comment stands.
func tooWide(files *token.FileSet, source *ast.File, text string) []int {
	lines := strings.Split(text, "\n")
	var found []int
	for _, group := range source.Comments {
		for _, comment := range group.List {
			first, last := files.Position(comment.Pos()).Line, files.Position(comment.End()).Line
			for line := first; line <= last; line++ {
				if columns(lines[line-1]) > widest {
					found = append(found, line)
				}
			}
		}
	}
	return found
}

func columns(line string) int {
	return utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tab-1)
}

// A comment is as wide as a page, so that it can be read beside another file.
func TestCommentsAreNarrow(t *testing.T) {
	eachFile(t, func(name, text string, files *token.FileSet, source *ast.File) {
		for _, line := range tooWide(files, source, text) {
			t.Errorf("%s:%d: the line with this comment is wider than %d columns: wrap it", name, line, widest)
		}
	})
}

func TestTooWide(t *testing.T) {
	words := func(n int) string { return strings.Repeat("x", n) }
	text := "package p\n\n" +
		"// " + words(widest-3) + "\n// " + words(widest-2) + "\nfunc f() {\n" +
		"\t// " + words(widest-tab-3) + "\n\t// " + words(widest-tab-2) + "\n" +
		"\tx := `" + words(widest) + "`\n" +
		"\tx = `" + words(widest) + "` // why\n" +
		"\t/* é" + strings.Repeat("é", widest-tab-4) + "\n" + words(widest+1) + " */\n}\n"
	files := token.NewFileSet()
	source, err := parser.ParseFile(files, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if found, want := tooWide(files, source, text), []int{4, 7, 9, 11}; !slices.Equal(found, want) {
		t.Errorf("lines %v, not %v", found, want)
	}
}
