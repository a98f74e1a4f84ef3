package architecture_test

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"
)

// Tests that do less, or nothing, outside .ci/run are run there with all that they can do.
func TestTheGateRunsWhatTakesLongest(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	gate := map[string]*regexp.Regexp{}
	for _, line := range regexp.MustCompile(`(?m)^REDLOCKSIM_CASES=all go test .*-run '(.*)' \./(.*)$`).FindAllStringSubmatch(string(script), -1) {
		gate[line[2]] = regexp.MustCompile(line[1])
	}
	found := 0
	eachFile(t, func(file, _ string, _ *token.FileSet, source *ast.File) {
		for _, test := range asksForLongest(source) {
			found++
			if re := gate[path.Dir(file)]; re == nil || !re.MatchString(test) {
				t.Errorf("%s: %s takes longest, and .ci/run does not run it with REDLOCKSIM_CASES=all", file, test)
			}
		}
	})
	if found < 7 {
		t.Errorf("%d tests ask package longest, there were more", found)
	}
}

// asksForLongest names the tests of a file that ask package longest, themselves or by a function of the same file.
func asksForLongest(source *ast.File) []string {
	asks := map[string]bool{"longest": true}
	for range source.Decls { // until no more are found
		for _, d := range source.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !asks[f.Name.Name] {
				asks[f.Name.Name] = mentions(f, asks)
			}
		}
	}
	var tests []string
	for _, d := range source.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && asks[f.Name.Name] && regexp.MustCompile(`^Test[A-Z]`).MatchString(f.Name.Name) {
			tests = append(tests, f.Name.Name)
		}
	}
	return tests
}

// mentions reports whether a function calls one of these, or something of a package so named.
func mentions(f *ast.FuncDecl, names map[string]bool) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		called := call.Fun
		if of, ok := called.(*ast.SelectorExpr); ok {
			called = of.X
		}
		if name, ok := called.(*ast.Ident); ok {
			found = found || names[name.Name]
		}
		return true
	})
	return found
}
