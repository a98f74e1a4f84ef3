package surface_test

import (
	"go/ast"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/cover"
	"golang.org/x/tools/go/packages"
)

// instrumented are the packages whose runs are measured: the library, and those that call it.
var instrumented = slices.Concat(library, []string{"scenarios", "scenarios/protocols", "sim/wire", "monitor", "internal/surface/measure"})

// place is a line and column of a source file.
type place struct {
	file         string
	line, column int
}

// use is where something is used, and where the statement begins of which that is a part: what follows a function literal in it
// is in no block of its own.
type use struct{ at, statement place }

// code is the sources that are measured.
type code struct {
	bodies map[string]place // of the library's functions and methods, by their names
	uses   map[string][]use // of them, and of the fields of its structs, in other packages
}

// nameOf is a function of the library as the page names it; false for others.
func nameOf(f *types.Func) (string, bool) {
	if f.Pkg() == nil || !f.Exported() || !isLibrary(f.Pkg()) {
		return "", false
	}
	name := f.Name()
	if recv := f.Signature().Recv(); recv != nil {
		typ := recv.Type()
		if pointer, is := typ.(*types.Pointer); is {
			typ = pointer.Elem()
		}
		named, is := typ.(*types.Named)
		if !is || !named.Obj().Exported() {
			return "", false
		}
		name = named.Obj().Name() + "." + name
	}
	return prefixed(f.Pkg(), name), true
}

func isLibrary(p *types.Package) bool {
	return slices.Contains(library, strings.TrimPrefix(p.Path(), "redlocksim/"))
}

// prefixed is a name with that of its package before it, if that is not redlock.
func prefixed(p *types.Package, name string) string {
	if p.Name() == "redlock" {
		return name
	}
	return p.Name() + "." + name
}

// read finds the functions of the library, and where others call them. A call of an interface's method may be one of each
// method with that name.
func read(t *testing.T) code {
	t.Helper()
	var patterns []string
	for _, dir := range instrumented {
		patterns = append(patterns, "./"+dir)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir: root,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	x := code{map[string]place{}, map[string][]use{}}
	methods := map[string][]string{} // of the library, by their names without the type's
	for _, p := range loaded {
		for id, object := range p.TypesInfo.Defs {
			if f, is := object.(*types.Func); is {
				if name, is := nameOf(f); is {
					x.bodies[name] = placeOf(p, id)
					if f.Signature().Recv() != nil {
						methods[f.Name()] = append(methods[f.Name()], name)
					}
				}
			}
		}
	}
	for _, p := range loaded {
		if isLibrary(p.Types) {
			continue
		}
		for _, file := range p.Syntax {
			var statements []ast.Stmt // from the outermost
			ast.Inspect(file, func(n ast.Node) bool {
				if n == nil {
					return true
				}
				for len(statements) > 0 && statements[len(statements)-1].End() <= n.Pos() {
					statements = statements[:len(statements)-1]
				}
				if s, is := n.(ast.Stmt); is {
					statements = append(statements, s)
				}
				for _, name := range usedBy(p, n, methods) {
					u := use{at: placeOf(p, n)}
					if len(statements) > 0 {
						u.statement = placeOf(p, statements[len(statements)-1])
					}
					x.uses[name] = append(x.uses[name], u)
				}
				return true
			})
		}
	}
	return x
}

func placeOf(p *packages.Package, n ast.Node) place {
	where := p.Fset.Position(n.Pos())
	return place{p.PkgPath + "/" + filepath.Base(where.Filename), where.Line, where.Column}
}

// usedBy is what of the library a node of a syntax tree of another package uses.
func usedBy(p *packages.Package, n ast.Node, methods map[string][]string) (names []string) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		named, is := p.TypesInfo.TypeOf(n).(*types.Named)
		if !is || named.Obj().Pkg() == nil || named.Obj().Pkg() == p.Types || !isLibrary(named.Obj().Pkg()) {
			return nil
		}
		for _, field := range n.Elts {
			if field, is := field.(*ast.KeyValueExpr); is {
				names = append(names, prefixed(named.Obj().Pkg(), named.Obj().Name()+"."+types.ExprString(field.Key)))
			}
		}
	case *ast.Ident:
		f, is := p.TypesInfo.Uses[n].(*types.Func)
		if !is {
			return nil
		}
		recv := f.Signature().Recv()
		if name, is := nameOf(f); is {
			if f.Pkg().Path() != p.PkgPath {
				return []string{name}
			}
			return nil
		}
		switch {
		case f.FullName() == "errors.Is" || f.FullName() == "errors.As":
			return []string{"Error.Unwrap"}
		case recv != nil && types.IsInterface(recv.Type()):
			return methods[f.Name()]
		}
	}
	return names
}

// measured runs the catalogue, and gives the files whose scenarios use each name.
func measured(t *testing.T, names []string) map[string][]string {
	t.Helper()
	binary, dir := filepath.Join(t.TempDir(), "measure"), t.TempDir()
	command(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg=redlocksim/"+strings.Join(instrumented, ",redlocksim/"), "-o", binary, "./internal/surface/measure")
	command(t, binary, dir)
	x, used := read(t), map[string][]string{}
	for _, name := range names {
		used[name] = nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		profile := filepath.Join(dir, e.Name()+".txt")
		command(t, "go", "tool", "covdata", "textfmt", "-i="+filepath.Join(dir, e.Name()), "-o="+profile)
		ran := parseProfile(t, profile)
		number, _, _ := strings.Cut(e.Name(), "-")
		for _, name := range names {
			body, isCall := x.bodies[name]
			if (!isCall || ran.in(body)) && slices.ContainsFunc(x.uses[name], ran.has) {
				used[name] = append(used[name], number)
			}
		}
	}
	return used
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// blocks are the blocks of each source file that were, or were not, run.
type blocks map[string][]cover.ProfileBlock

func parseProfile(t *testing.T, file string) blocks {
	t.Helper()
	profiles, err := cover.ParseProfiles(file)
	if err != nil {
		t.Fatal(err)
	}
	b := blocks{}
	for _, p := range profiles {
		b[p.FileName] = p.Blocks
	}
	return b
}

// has says whether a use was run.
func (b blocks) has(u use) bool {
	around := b.around(u.at)
	if around == nil {
		around = b.around(u.statement)
	}
	return around != nil && around.Count > 0
}

// around is the smallest block around a place; nil if there is none.
func (b blocks) around(p place) (around *cover.ProfileBlock) {
	for i, block := range b[p.file] {
		begins := block.StartLine < p.line || block.StartLine == p.line && block.StartCol <= p.column
		ends := block.EndLine > p.line || block.EndLine == p.line && block.EndCol > p.column
		if begins && ends {
			around = &b[p.file][i] // they are in the order of their beginnings
		}
	}
	return around
}

// in says whether the first block of a function, whose name is at a place, was run.
func (b blocks) in(p place) bool {
	for _, block := range b[p.file] {
		if block.StartLine > p.line || block.StartLine == p.line && block.StartCol > p.column {
			return block.Count > 0
		}
	}
	return false
}
