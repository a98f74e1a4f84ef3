package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// variables has another variable of the same type that is in scope. Contexts are a class of their own.
func variables(v *view) []slip {
	id, ok := v.node.(*ast.Ident)
	if !ok {
		return nil
	}
	object, ok := v.TypesInfo.Uses[id].(*types.Var)
	if !ok || object.IsField() || object.Parent() == object.Pkg().Scope() || v.isContext(id) || v.isName(id) {
		return nil
	}
	var all []slip
	for _, other := range v.inScope(id.Pos(), object.Type()) {
		if other != object.Name() {
			all = append(all, v.instead(Variable, id, other))
		}
	}
	return all
}

// isName reports whether an identifier only names a field or method.
func (v *view) isName(id *ast.Ident) bool {
	switch p := v.parent().(type) {
	case *ast.SelectorExpr:
		return p.Sel == id
	case *ast.KeyValueExpr:
		return p.Key == id
	}
	return false
}

// inScope are the names of the function's variables of a type that are declared before a position, sorted.
func (v *view) inScope(at token.Pos, t types.Type) []string {
	var names []string
	for scope := v.Types.Scope().Innermost(at); scope != nil && scope != v.Types.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			other, ok := scope.Lookup(name).(*types.Var)
			if !ok || name == "_" || other.Pos() >= at || !types.Identical(other.Type(), t) {
				continue
			}
			if _, seen := v.Types.Scope().Innermost(at).LookupParent(name, at); seen == other {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fields has another field of the same type of the same struct.
func fields(v *view) []slip {
	s, ok := v.node.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	field, ok := v.TypesInfo.Uses[s.Sel].(*types.Var)
	if !ok || !field.IsField() {
		return nil
	}
	t := v.typeOf(s.X)
	if p, ok := under(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	of, ok := under(t).(*types.Struct)
	if !ok {
		return nil
	}
	var all []slip
	for i := range of.NumFields() {
		other := of.Field(i)
		if other != field && types.Identical(other.Type(), field.Type()) && (other.Exported() || other.Pkg() == v.Types) {
			all = append(all, v.instead(Variable, s.Sel, other.Name()))
		}
	}
	return all
}

// contexts has another context of the function, or one that never ends.
func contexts(v *view) []slip {
	e, ok := v.node.(ast.Expr)
	if !ok || !v.isContext(e) {
		return nil
	}
	switch p := v.parent().(type) {
	case *ast.CallExpr:
		if !slices.Contains(p.Args, e) {
			return nil
		}
	case *ast.AssignStmt:
		if !slices.Contains(p.Rhs, e) {
			return nil
		}
	case *ast.KeyValueExpr:
		if p.Value != e {
			return nil
		}
	default:
		return nil
	}
	var all []slip
	for _, other := range v.inScope(e.Pos(), v.typeOf(e)) {
		all = append(all, v.instead(Context, e, other))
	}
	return append(all, v.instead(Context, e, "context.Background()"))
}

// notCopied forgets a field of a composite literal.
func notCopied(v *view) []slip {
	n, ok := v.node.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if _, ok := under(v.typeOf(n)).(*types.Struct); !ok {
		return nil
	}
	var all []slip
	for i, e := range n.Elts {
		if _, ok := e.(*ast.KeyValueExpr); !ok {
			continue
		}
		from, to := e.Pos(), e.End()
		switch {
		case i+1 < len(n.Elts):
			to = n.Elts[i+1].Pos()
		case i > 0:
			from = n.Elts[i-1].End()
		default:
			to = n.Rbrace
		}
		all = append(all, slip{Field, v.offset(from), v.offset(to), ""})
	}
	return all
}

// shared hands on what should be copied.
func shared(v *view) []slip {
	n, ok := v.node.(*ast.CallExpr)
	if ok && len(n.Args) == 1 && (isCallOf(n, "slices", "Clone") || isCallOf(n, "slices", "Clip") || isCallOf(n, "maps", "Clone")) {
		return []slip{v.instead(Copy, n, v.of(n.Args[0]))}
	}
	return nil
}
