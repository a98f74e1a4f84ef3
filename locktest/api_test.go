package locktest

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed are the packages whose types the API may name beside its own and those of the standard library: rapid, which
// draws the experiments, and the seam of redlock, which is what a lock meets in the simulator as it does in production.
var allowed = []string{"redlocksim/locktest", "redlocksim/redlock/driver", "pgregory.net/rapid"}

// A user of this package reads of no type that is not theirs, in what is exported, with its fields, methods and signatures.
func TestTheAPINamesNoTypeOfTheLaboratory(t *testing.T) {
	loaded, err := compiled(t).Import(allowed[0])
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(allowed[0], "/")
	named := 0
	see := func(at string, typ types.Type) {
		types.TypeString(typ, func(p *types.Package) string {
			named++
			// A module has a dot in the first element of its path, or is this one.
			first, _, _ := strings.Cut(p.Path(), "/")
			if !slices.Contains(allowed, p.Path()) && (first == module || strings.Contains(first, ".")) {
				t.Errorf("%s names %s", at, p.Path())
			}
			return ""
		})
	}
	for _, name := range loaded.Scope().Names() {
		o := loaded.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		see(name, types.Unalias(o.Type()))
		if of, is := types.Unalias(o.Type()).(*types.Named); is {
			for m := range of.Methods() {
				if m.Exported() {
					see(name+"."+m.Name(), m.Type())
				}
			}
		}
		s, is := o.Type().Underlying().(*types.Struct)
		if !is {
			see(name, o.Type().Underlying())
			continue
		}
		for f := range s.Fields() {
			if f.Exported() || f.Embedded() {
				see(name+"."+f.Name(), f.Type())
			}
		}
	}
	if named < 30 {
		t.Errorf("%d types are not all there are", named)
	}
}

// compiled imports packages as the compiler left them.
func compiled(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}
