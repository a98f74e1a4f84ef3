package locktest

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// allowed are the packages whose types the API may name beside its own and those of the standard library: rapid, which
// draws the experiments, and the seam of redlock, which is what a lock meets in the simulator as it does in production.
var allowed = []string{"redlocksim/locktest", "redlocksim/redlock/driver", "pgregory.net/rapid"}

// A user of this package reads of no type that is not theirs: everything exported is walked, with the fields, methods and
// signatures of its own types.
func TestTheAPINamesNoTypeOfTheLaboratory(t *testing.T) {
	loaded, err := compiled(t).Import(allowed[0])
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(allowed[0], "/")
	w := &walk{t: t, module: module, seen: map[types.Type]bool{}}
	scope := loaded.Scope()
	names := 0
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			names++
			w.see(name, o.Type())
		}
	}
	if names < 10 || w.named < names {
		t.Errorf("%d names and %d types are not all there are", names, w.named)
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

// walk goes through types.
type walk struct {
	t      *testing.T
	module string
	seen   map[types.Type]bool
	named  int
}

func (w *walk) see(at string, typ types.Type) {
	if w.seen[typ] {
		return
	}
	w.seen[typ] = true
	switch x := typ.(type) {
	case *types.Alias:
		w.name(at, x.Obj())
		w.see(at, x.Rhs())
	case *types.Named:
		w.name(at, x.Obj())
		for i := range x.TypeArgs().Len() {
			w.see(at, x.TypeArgs().At(i))
		}
		if x.Obj().Pkg() == nil || x.Obj().Pkg().Path() != allowed[0] || !x.Obj().Exported() {
			return
		}
		w.see(at, x.Underlying())
		for m := range x.Methods() {
			if m.Exported() {
				w.see(at+"."+m.Name(), m.Type())
			}
		}
	case *types.Struct:
		for f := range x.Fields() {
			if f.Exported() || f.Embedded() {
				w.see(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range x.Methods() {
			w.see(at+"."+m.Name(), m.Type())
		}
	case *types.Signature:
		for v := range x.Params().Variables() {
			w.see(at, v.Type())
		}
		for v := range x.Results().Variables() {
			w.see(at, v.Type())
		}
	case *types.Map:
		w.see(at, x.Key())
		w.see(at, x.Elem())
	case interface{ Elem() types.Type }:
		w.see(at, x.Elem())
	}
}

// name looks at whose type it is.
func (w *walk) name(at string, o *types.TypeName) {
	w.named++
	if o.Pkg() == nil { // error, any
		return
	}
	path := o.Pkg().Path()
	for _, p := range allowed {
		if path == p {
			if !o.Exported() {
				w.t.Errorf("%s names %s, which is not exported", at, o.Name())
			}
			return
		}
	}
	// A module has a dot in the first element of its path, or is this one.
	first, _, _ := strings.Cut(path, "/")
	if first == w.module || strings.Contains(first, ".") {
		w.t.Errorf("%s names %s.%s", at, path, o.Name())
	}
}
