package architecture_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// circles are the files that may call each other in a circle, and why.
var circles = map[string]string{
	"checker/foreign: atom.go scanner.go": "a grammar: data stands inside of data, in either notation",
}

// file is where something is declared, by its name in the directory of its package.
type file string

// arrows are the files of a package that each file calls, or takes functions from, each with one such use.
type arrows map[file]map[file]string

// arrowsOf are those of a package, without its tests. A call of an interface's method is none: whom it reaches is not its
// affair.
func arrowsOf(p *packages.Package) arrows {
	of := arrows{}
	at := func(n interface{ Pos() token.Pos }) file {
		return file(filepath.Base(p.Fset.Position(n.Pos()).Filename))
	}
	for _, source := range p.Syntax {
		for _, d := range source.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				id, is := n.(*ast.Ident)
				if !is {
					return true
				}
				f, is := p.TypesInfo.Uses[id].(*types.Func)
				if !is || f.Pkg() != p.Types || isAbstract(f) {
					return true
				}
				if from, to := at(id), at(f.Origin()); from != to {
					if of[from] == nil {
						of[from] = map[file]string{}
					}
					of[from][to] = within(d) + " uses " + f.Name()
				}
				return true
			})
		}
	}
	return of
}

func isAbstract(f *types.Func) bool {
	receiver := f.Signature().Recv()
	return receiver != nil && types.IsInterface(receiver.Type())
}

// within is what a declaration declares: a function, after its receiver's type if it has one, or something else.
func within(d ast.Decl) string {
	f, is := d.(*ast.FuncDecl)
	if !is {
		return "a variable"
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		default:
			return of.(*ast.Ident).Name + "." + f.Name.Name
		}
	}
}

// reachable are the files that a file calls, directly or through others.
func (a arrows) reachable(from file) map[file]bool {
	all := map[file]bool{}
	next := []file{from}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for to := range a[at] {
			if !all[to] {
				all[to] = true
				next = append(next, to)
			}
		}
	}
	return all
}

// circles are the sets of files that all call each other, directly or through others, and one use for each arrow between them.
func (a arrows) circles() map[string][]string {
	found := map[string][]string{}
	for _, from := range slices.Sorted(maps.Keys(a)) {
		var circle []string
		var uses []string
		for to := range a.reachable(from) {
			if !a.reachable(to)[from] {
				continue
			}
			circle = append(circle, string(to))
			for next, use := range a[to] {
				if a.reachable(next)[from] {
					uses = append(uses, string(to)+" → "+string(next)+": "+use)
				}
			}
		}
		if circle != nil {
			slices.Sort(circle)
			slices.Sort(uses)
			found[strings.Join(circle, " ")] = uses
		}
	}
	return found
}

// The files of each package call each other one way: who reads one knows which others it rests on.
func TestCallsPointOneWay(t *testing.T) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir: root,
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	allowed := maps.Clone(circles)
	for _, p := range all {
		for _, e := range p.Errors {
			t.Error(e)
		}
		found := arrowsOf(p).circles()
		for _, files := range slices.Sorted(maps.Keys(found)) {
			name := strings.TrimPrefix(p.PkgPath, module) + ": " + files
			if _, may := allowed[name]; may {
				delete(allowed, name)
				continue
			}
			t.Errorf("%s call each other in a circle:\n\t%s", name, strings.Join(found[files], "\n\t"))
		}
	}
	for name := range allowed {
		t.Errorf("%s: there is no such circle any more", name)
	}
	if len(all) < 50 {
		t.Errorf("only %d packages were looked at", len(all))
	}
}
