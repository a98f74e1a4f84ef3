package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// longest is how many lines a function may have that are not in a table.
const longest = 60

// long are the functions that may have more, by file and name, and why.
var long = map[string]string{
	"sim/history/hash.go Hasher.Add": "spells out each field: helpers took 1.7 times as long, in every event of every run",
}

// linesOf are the lines of a function, declared or literal, that are not in a table: in a composite literal or a text of
// several lines.
func linesOf(files *token.FileSet, f ast.Node) int {
	span := func(n ast.Node) int { return files.Position(n.End()).Line - files.Position(n.Pos()).Line }
	lines := span(f) + 1
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.BasicLit:
			lines -= span(n)
			return false
		}
		return true
	})
	return lines
}

// tooLong are the functions of a file that have too many lines, and how many. Functions in tables are looked at by themselves.
func tooLong(files *token.FileSet, source *ast.File) map[string]int {
	found := map[string]int{}
	for _, d := range source.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				if lines := linesOf(files, n); lines > longest {
					found[within(d)] = max(found[within(d)], lines)
				}
			}
			return true
		})
	}
	return found
}

// eachFile gives the text and the syntax of each file, tests too and those in the modules beside this one.
func eachFile(t *testing.T, look func(name, text string, files *token.FileSet, source *ast.File)) {
	t.Helper()
	looked := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go":
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		source, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		looked++
		look(filepath.ToSlash(name), string(text), files, source)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 500 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// A function is short enough to be read at once, unless there is a reason.
func TestFunctionsAreShort(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(name, _ string, files *token.FileSet, source *ast.File) {
		for f, lines := range tooLong(files, source) {
			f = name + " " + f
			if long[f] == "" {
				t.Errorf("%s has %d lines outside of its tables, more than %d: cut it by idea, or give a reason", f, lines, longest)
			}
			used[f] = true
		}
	})
	for f := range long {
		if !used[f] {
			t.Errorf("%s is not too long any more: it needs no reason", f)
		}
	}
}
