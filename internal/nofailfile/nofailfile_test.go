package nofailfile

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlagIsSet(t *testing.T) {
	if f := flag.Lookup("rapid.nofailfile"); f == nil || f.Value.String() != "true" {
		t.Errorf("the flag is %v", f)
	}
}

// Every package with tests that use rapid imports this one there.
func TestEveryPackageWithRapid(t *testing.T) {
	uses, imports := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		dir := filepath.Dir(path)
		uses[dir] = uses[dir] || strings.Contains(string(source), "\"pgregory.net/rapid\"\n")
		imports[dir] = imports[dir] || strings.Contains(string(source), "_ \"redlocksim/internal/nofailfile\"")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range uses {
		if uses[dir] && !imports[dir] && dir != "." {
			t.Errorf("%s: a test uses rapid and none imports redlocksim/internal/nofailfile: a failure would leave a file behind", dir)
		}
	}
	if len(uses) < 10 {
		t.Errorf("only %d packages with tests were looked at", len(uses))
	}
}
