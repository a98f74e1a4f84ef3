package generate

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// Set is every bug of some packages.
type Set struct {
	Mutants []Mutant

	root string
}

// Load parses the sources of some directories and makes every bug that an operator knows. root is the module's root. It is an
// error if a file there that is to have no bugs has gone.
func Load(root string, directories []string) (*Set, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &Set{root: root}
	var patterns []string
	for _, d := range directories {
		patterns = append(patterns, "./"+d)
		scripts, err := filepath.Glob(filepath.Join(root, d, "*.lua"))
		if err != nil {
			return nil, err
		}
		for _, script := range scripts {
			f, err := s.file(script)
			if err == nil {
				err = f.scriptSlips()
			}
			if err != nil {
				return nil, err
			}
			s.Mutants = append(s.Mutants, f.mutants...)
		}
	}
	for _, name := range excludedFiles {
		if _, err := os.Stat(filepath.Join(root, name)); slices.Contains(directories, path.Dir(name)) && err != nil {
			return nil, fmt.Errorf("generate: a file without bugs: %w", err)
		}
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax,
		Dir: root,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("generate: %s: %w", p.PkgPath, e)
		}
		for _, syntax := range p.Syntax {
			f, err := s.file(p.Fset.Position(syntax.Package).Filename)
			if err != nil {
				return nil, err
			}
			goSlips(p, syntax, f)
			s.Mutants = append(s.Mutants, f.mutants...)
		}
	}
	return s, nil
}

// file reads a source file.
func (s *Set) file(path string) (*file, error) {
	name, err := filepath.Rel(s.root, path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	return &file{name: filepath.ToSlash(name), text: string(text), count: map[string]int{}}, err
}

// goSlips makes the bugs of a Go file.
func goSlips(p *packages.Package, syntax *ast.File, f *file) {
	if slices.Contains(excludedFiles, f.name) {
		return
	}
	for _, d := range syntax.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || function.Body == nil || isExcluded(functionName(function)) {
			continue
		}
		ast.PreorderStack(function, nil, func(n ast.Node, above []ast.Node) bool {
			v := &view{Package: p, file: f, offsets: p.Fset.File(syntax.Package), node: n, above: above, function: function}
			if v.isExcluded() {
				return false
			}
			v.slips()
			return true
		})
	}
}

// slips makes the slips of the node. Operators look at no other node but its parts, so that a slip has one place.
func (v *view) slips() {
	switch n := v.node.(type) {
	case *ast.BinaryExpr:
		v.operation(n)
	case *ast.CallExpr:
		v.call(n)
	case *ast.BasicLit:
		v.number(n)
	case *ast.Ident:
		v.name(n)
	case *ast.SelectorExpr:
		v.field(n)
	case *ast.CompositeLit:
		v.notCopied(n)
	}
	switch n := v.node.(type) {
	case ast.Expr:
		v.context(n)
	case ast.Stmt:
		v.statementSlips(n)
	}
}
