package architecture_test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// The standard library's packages are imported first, and in a group of their own.
func TestImportsAreGrouped(t *testing.T) {
	eachFile(t, func(file, _ string, files *token.FileSet, source *ast.File) {
		last, areOthers := 0, false
		for _, spec := range source.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			line, isStandard := files.Position(spec.Pos()).Line, isStandard(name)
			switch {
			case isStandard && areOthers:
				t.Errorf("%s:%d: %s is the standard library's, and comes after others", file, line, name)
			case !isStandard && !areOthers && last > 0 && line == last+1:
				t.Errorf("%s:%d: an empty line is missing before %s, which is not the standard library's", file, line, name)
			}
			last, areOthers = line, areOthers || !isStandard
		}
	})
}

// isStandard says whether a package is one of the standard library's, whose names have no host in front.
func isStandard(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	return !strings.HasPrefix(name, module) && !strings.Contains(host, ".")
}
