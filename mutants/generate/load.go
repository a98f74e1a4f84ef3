package generate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// Set is every bug of a target, in the order of its sources.
type Set struct {
	Mutants []Mutant

	root     string
	packages []*source

	mu   sync.Mutex
	same map[string]string // by package, what its code is without a bug
}

// source is a package that was parsed and checked.
type source struct {
	directory string
	*packages.Package
	imported map[string]*types.Package
}

// Load parses the sources of a target and makes every bug that an operator knows. root is the module's root.
func Load(root string, t Target) (*Set, error) {
	if directories[t] == nil {
		return nil, fmt.Errorf("generate: no target %q, want %s, %s or %s", t, Library, Semaphores, Protocols)
	}
	return loadAll(root, directories[t])
}

func loadAll(root string, directories []string) (*Set, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &Set{root: root, same: map[string]string{}}
	if s.packages, err = load(root, directories); err != nil {
		return nil, err
	}
	for _, p := range s.packages {
		all, err := p.mutants()
		if err != nil {
			return nil, err
		}
		scripts, err := scriptMutants(root, p.directory)
		if err != nil {
			return nil, err
		}
		s.Mutants = slices.Concat(s.Mutants, all, scripts)
	}
	return s, nil
}

// load loads packages, in the order of their directories.
func load(root string, directories []string) ([]*source, error) {
	var patterns []string
	for _, d := range directories {
		patterns = append(patterns, "./"+d)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedModule,
		Dir: root,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("generate: %s: %w", p.PkgPath, e)
		}
		directory := strings.TrimPrefix(p.PkgPath, p.Module.Path+"/")
		all = append(all, &source{directory, p, map[string]*types.Package{}})
		for _, imported := range p.Types.Imports() {
			all[len(all)-1].imported[imported.Path()] = imported
		}
	}
	slices.SortFunc(all, func(a, b *source) int { return strings.Compare(a.directory, b.directory) })
	return all, nil
}

// mutants makes the bugs of the package's Go files.
func (p *source) mutants() ([]Mutant, error) {
	var all []Mutant
	for _, file := range p.Syntax {
		path := p.Fset.Position(file.Package).Filename
		name := p.directory + "/" + filepath.Base(path)
		if slices.Contains(excludedFiles, name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var slips []slip
		var places []place
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || isText(f) || slices.Contains(checks, functionName(f)) {
				continue
			}
			ast.PreorderStack(f, nil, func(n ast.Node, above []ast.Node) bool {
				if p.isExcluded(n, above) {
					return false
				}
				v := &view{source: p, file: p.Fset.File(file.Package), text: string(text), node: n, above: above, function: f}
				statement := v.offset(v.statement().Pos())
				for _, operator := range operators {
					for _, s := range operator(v) {
						slips, places = append(slips, s), append(places, place{name, functionName(f), statement})
					}
				}
				return true
			})
		}
		all = append(all, named(string(text), slips, places)...)
	}
	return all, nil
}

// compiles reports whether the package is still well-typed with the bug in it.
func (p *source) compiles(root string, m Mutant) (bool, error) {
	path := filepath.Join(root, m.Edit.File)
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	changed, err := parser.ParseFile(p.Fset, path, strings.Replace(string(text), m.Edit.Old, m.Edit.New, 1), parser.SkipObjectResolution)
	if err != nil {
		return false, nil
	}
	var files []*ast.File
	for _, file := range p.Syntax {
		if p.Fset.Position(file.Package).Filename == path {
			file = changed
		}
		files = append(files, file)
	}
	check := types.Config{Importer: importer(p.imported), Sizes: p.TypesSizes, GoVersion: "go" + p.Module.GoVersion}
	_, err = check.Check(p.PkgPath, p.Fset, files, nil)
	return err == nil, nil
}

type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("generate: %s is not imported", path)
}

// view is a node of a syntax tree with what operators need to know about where it is.
type view struct {
	*source
	file     *token.File
	text     string
	node     ast.Node
	above    []ast.Node // from the function down to the parent
	function *ast.FuncDecl
}

func (v *view) parent() ast.Node {
	if len(v.above) == 0 {
		return nil
	}
	return v.above[len(v.above)-1]
}

// statement is the innermost statement that the node is in or is, or the function.
func (v *view) statement() ast.Node {
	for _, n := range slices.Backward(append(slices.Clip(v.above), v.node)) {
		switch n.(type) {
		case *ast.BlockStmt:
		case ast.Stmt:
			return n
		}
	}
	return v.function
}

func (v *view) offset(p token.Pos) int { return v.file.Offset(p) }

// of is the source of a node.
func (v *view) of(n ast.Node) string { return v.text[v.offset(n.Pos()):v.offset(n.End())] }

// instead is the slip that has the text in place of the node.
func (v *view) instead(c Class, n ast.Node, text string) slip {
	return slip{c, v.offset(n.Pos()), v.offset(n.End()), text}
}

// typeOf is nil for what has no type.
func (v *view) typeOf(e ast.Expr) types.Type { return v.TypesInfo.TypeOf(e) }

func (v *view) isInteger(e ast.Expr) bool {
	b, ok := under(v.typeOf(e)).(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (v *view) isBool(e ast.Expr) bool {
	b, ok := under(v.typeOf(e)).(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func (v *view) isContext(e ast.Expr) bool { return isNamed(v.typeOf(e), "context", "Context") }
func (v *view) isTime(e ast.Expr) bool    { return isNamed(v.typeOf(e), "time", "Time") }
