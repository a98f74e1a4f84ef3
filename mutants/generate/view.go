package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// view is a node of a syntax tree with what operators need to know about where it is.
type view struct {
	*packages.Package
	file     *file
	offsets  *token.File
	node     ast.Node
	above    []ast.Node // from the function down to the parent
	function *ast.FuncDecl
}

// parent is what a node is a part of; nil of a function.
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

// slip has the text in place of what is between two positions.
func (v *view) slip(c Class, from, to token.Pos, text string) {
	v.file.slip(c, functionName(v.function), v.offsets.Offset(v.statement().Pos()), v.offsets.Offset(from), v.offsets.Offset(to), text)
}

// instead has texts in place of a node, each in a slip of its own.
func (v *view) instead(c Class, n ast.Node, texts ...string) {
	for _, text := range texts {
		v.slip(c, n.Pos(), n.End(), text)
	}
}

// of is the source of a node, and between what is from one position to another.
func (v *view) of(n ast.Node) string { return v.between(n.Pos(), n.End()) }

func (v *view) between(from, to token.Pos) string {
	return v.file.text[v.offsets.Offset(from):v.offsets.Offset(to)]
}

// typeOf is nil for what has no type.
func (v *view) typeOf(e ast.Expr) types.Type { return v.TypesInfo.TypeOf(e) }

// has reports whether a type is a basic one of a kind.
func (v *view) has(e ast.Expr, kind types.BasicInfo) bool {
	t := v.typeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&kind != 0
}

// isA reports whether an expression has a named type of a package, or of the universe.
func (v *view) isA(e ast.Expr, path, name string) bool {
	n, ok := v.typeOf(e).(*types.Named)
	if !ok || n.Obj().Name() != name {
		return false
	}
	pkg := n.Obj().Pkg()
	return pkg == nil && path == "" || pkg != nil && pkg.Path() == path
}

func (v *view) isError(e ast.Expr) bool { return v.isA(e, "", "error") }

// functionName is the name of a function, with the type of its receiver.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	name := types.ExprString(f.Recv.List[0].Type)
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "*"), "[")
	return name + "." + f.Name.Name
}
