package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// others are what may be in place of an operator.
var others = map[token.Token]struct {
	class Class
	token token.Token
}{
	token.LSS: {Boundary, token.LEQ}, token.LEQ: {Boundary, token.LSS}, token.GTR: {Boundary, token.GEQ}, token.GEQ: {Boundary, token.GTR},
	token.LAND: {Logic, token.LOR}, token.LOR: {Logic, token.LAND},
	token.ADD: {Operator, token.SUB}, token.SUB: {Operator, token.ADD}, token.MUL: {Operator, token.QUO}, token.QUO: {Operator, token.MUL},
	token.REM: {Operator, token.QUO}, token.AND: {Operator, token.OR}, token.OR: {Operator, token.AND},
	token.SHL: {Operator, token.SHR}, token.SHR: {Operator, token.SHL},
	token.ADD_ASSIGN: {Operator, token.SUB_ASSIGN}, token.SUB_ASSIGN: {Operator, token.ADD_ASSIGN},
	token.OR_ASSIGN: {Operator, token.AND_ASSIGN}, token.AND_ASSIGN: {Operator, token.OR_ASSIGN},
	token.INC: {Operator, token.DEC}, token.DEC: {Operator, token.INC},
}

// operator has another operator; of strings there is none.
func (v *view) operator(at token.Pos, is token.Token, operand ast.Expr) {
	if other, ok := others[is]; ok && (other.class != Operator || !v.has(operand, types.IsString)) {
		v.slip(other.class, at, at+token.Pos(len(is.String())), other.token.String())
	}
}

// operation has another operator, forgets an operand of a condition or has it the wrong way round, swaps operands whose order
// counts, or compares with a number that is one too small or too large.
func (v *view) operation(n *ast.BinaryExpr) {
	v.operator(n.OpPos, n.Op, n.X)
	switch n.Op {
	case token.LAND, token.LOR:
		v.instead(Logic, n, v.of(n.X), v.of(n.Y))
		v.negate(Condition, n.X)
		v.negate(Condition, n.Y)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		v.swap(n.X, n.Y)
		v.offByOne(n.Y)
	case token.EQL, token.NEQ:
		v.offByOne(n.Y)
	case token.SUB, token.QUO, token.REM, token.AND_NOT:
		v.swap(n.X, n.Y)
	}
}

// negate has a condition the wrong way round.
func (v *view) negate(c Class, e ast.Expr) {
	if not, ok := e.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		v.instead(c, e, v.of(not.X))
	} else {
		v.instead(c, e, "!("+v.of(e)+")")
	}
}

// offByOne has a number that is compared or returned one too small or too large.
func (v *view) offByOne(e ast.Expr) {
	if _, isLiteral := e.(*ast.BasicLit); v.has(e, types.IsInteger) && !isLiteral && !v.isA(e, "time", "Duration") {
		v.instead(OffByOne, e, v.of(e)+" + 1", v.of(e)+" - 1")
	}
}

// swap has each of two nodes in the place of the other.
func (v *view) swap(a, b ast.Node) {
	v.slip(Swapped, a.Pos(), b.End(), v.of(b)+v.between(a.End(), b.Pos())+v.of(a))
}

// call swaps two neighbouring arguments of the same type, or a receiver and its only argument, as of a.Sub(b), has min for max
// or only one of what is compared, counts an instant in or out, and hands on what should be copied.
func (v *view) call(n *ast.CallExpr) {
	if v.TypesInfo.Types[n.Fun].IsBuiltin() {
		if other := map[string]string{"min": "max", "max": "min"}[v.of(n.Fun)]; other != "" && len(n.Args) > 1 {
			v.instead(Operator, n.Fun, other)
			for _, arg := range n.Args {
				v.instead(Operator, n, v.of(arg))
			}
		}
		return
	}
	for i := 1; i < len(n.Args); i++ {
		if a, b := n.Args[i-1], n.Args[i]; v.areAlike(a, b) {
			v.swap(a, b)
		}
	}
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) != 1 {
		return
	}
	if v.TypesInfo.Selections[s] != nil && v.areAlike(s.X, n.Args[0]) {
		v.swap(s.X, n.Args[0])
	}
	if other := map[string]string{"After": "Before", "Before": "After"}[s.Sel.Name]; other != "" && v.isA(s.X, "time", "Time") {
		v.instead(Boundary, n, "!"+v.of(s.X)+"."+other+"("+v.of(n.Args[0])+")")
	}
	if slices.Contains([]string{"slices.Clone", "slices.Clip", "maps.Clone"}, v.of(s)) {
		v.instead(Copy, n, v.of(n.Args[0]))
	}
}

func (v *view) areAlike(a, b ast.Expr) bool {
	s, t := v.typeOf(a), v.typeOf(b)
	return s != nil && t != nil && types.Identical(types.Default(s), types.Default(t))
}

// number has another number.
func (v *view) number(n *ast.BasicLit) {
	number, err := strconv.Atoi(n.Value)
	if n.Kind != token.INT || err != nil {
		return
	}
	v.instead(Constant, n, strconv.Itoa(number+1), strconv.Itoa(number-1))
	if number != 0 {
		v.instead(Constant, n, strconv.Itoa(number*2))
	}
}

// name has the other truth value, the next of the named constants of a type, the next of the errors that a package declares, or
// another variable of the same type that is in scope.
func (v *view) name(n *ast.Ident) {
	object := v.TypesInfo.Uses[n]
	if object == nil || object.Pkg() == nil {
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" && object != nil {
			v.instead(Constant, n, other)
		}
		return
	}
	is, isVariable := object.(*types.Var)
	switch {
	case isVariable && is.IsField():
	case object.Parent() == object.Pkg().Scope():
		v.sibling(n, object)
	case isVariable && !v.isA(n, "context", "Context") && !v.isLabel(n):
		for _, other := range v.inScope(n.Pos(), object.Type()) {
			v.instead(Variable, n, other)
		}
	}
}

// sibling has the next of the constants of a type, or of the errors, that a package declares.
func (v *view) sibling(n *ast.Ident, object types.Object) {
	kind := func(o types.Object) string {
		switch o := o.(type) {
		case *types.Const:
			return "constant"
		case *types.Var:
			if types.TypeString(o.Type(), nil) == "error" && strings.HasPrefix(o.Name(), "Err") {
				return "error"
			}
		}
		return ""
	}
	if _, isNamed := object.Type().(*types.Named); !isNamed || kind(object) == "" {
		return
	}
	names := slices.DeleteFunc(object.Pkg().Scope().Names(), func(name string) bool {
		other := object.Pkg().Scope().Lookup(name)
		return kind(object) != kind(other) || !types.Identical(object.Type(), other.Type()) || object.Pkg() != v.Types && !other.Exported()
	})
	v.instead(Constant, n, names[(slices.Index(names, object.Name())+1)%len(names)])
}

// isLabel reports whether an identifier only names a field or method.
func (v *view) isLabel(id *ast.Ident) bool {
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
	innermost := v.Types.Scope().Innermost(at)
	for scope := innermost; scope != nil && scope != v.Types.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			other, ok := scope.Lookup(name).(*types.Var)
			if !ok || name == "_" || other.Pos() >= at || !types.Identical(other.Type(), t) {
				continue
			}
			if _, seen := innermost.LookupParent(name, at); seen == other {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// structOf is the struct that an expression is or points to; nil if it does neither.
func (v *view) structOf(e ast.Expr) *types.Struct {
	t := v.typeOf(e)
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	of, _ := t.Underlying().(*types.Struct)
	return of
}

// field has another field of the same type of the same struct.
func (v *view) field(n *ast.SelectorExpr) {
	field, ok := v.TypesInfo.Uses[n.Sel].(*types.Var)
	of := v.structOf(n.X)
	if !ok || !field.IsField() || of == nil {
		return
	}
	for other := range of.Fields() {
		if types.Identical(other.Type(), field.Type()) && (other.Exported() || other.Pkg() == v.Types) {
			v.instead(Variable, n.Sel, other.Name())
		}
	}
}

// context has another context of the function, or one that never ends.
func (v *view) context(e ast.Expr) {
	isValue := false
	switch p := v.parent().(type) {
	case *ast.CallExpr:
		isValue = slices.Contains(p.Args, e)
	case *ast.AssignStmt:
		isValue = slices.Contains(p.Rhs, e)
	case *ast.KeyValueExpr:
		isValue = p.Value == e
	}
	if isValue && v.isA(e, "context", "Context") {
		v.instead(Context, e, append(v.inScope(e.Pos(), v.typeOf(e)), "context.Background()")...)
	}
}

// notCopied forgets a field of a composite literal.
func (v *view) notCopied(n *ast.CompositeLit) {
	if v.structOf(n) == nil {
		return
	}
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
		v.slip(Field, from, to, "")
	}
}
