package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// constants has another number or truth value.
func constants(v *view) []slip {
	switch n := v.node.(type) {
	case *ast.BasicLit:
		number, err := strconv.Atoi(n.Value)
		if n.Kind != token.INT || err != nil {
			return nil
		}
		others := []int{number + 1, number - 1, number * 2}
		if number == 0 {
			others = others[:2]
		}
		var all []slip
		for _, other := range others {
			all = append(all, v.instead(Constant, n, strconv.Itoa(other)))
		}
		return all
	case *ast.Ident:
		if c, ok := v.TypesInfo.Uses[n].(*types.Const); ok && c.Pkg() == nil {
			if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
				return []slip{v.instead(Constant, n, other)}
			}
		}
	}
	return nil
}

// siblings has the next of the named constants of a type, or the next of the errors that a package declares.
func siblings(v *view) []slip {
	id, ok := v.node.(*ast.Ident)
	if !ok {
		return nil
	}
	object := v.TypesInfo.Uses[id]
	switch object := object.(type) {
	case *types.Const:
	case *types.Var:
		if !isError(object.Type()) || !strings.HasPrefix(object.Name(), "Err") || object.IsField() {
			return nil
		}
	default:
		return nil
	}
	if object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return nil
	}
	if _, isNamed := object.Type().(*types.Named); !isNamed {
		return nil
	}
	names := slices.DeleteFunc(object.Pkg().Scope().Names(), func(name string) bool {
		other := object.Pkg().Scope().Lookup(name)
		return !sameKind(object, other) || !types.Identical(object.Type(), other.Type()) || object.Pkg() != v.Types && !other.Exported()
	})
	if len(names) < 2 {
		return nil
	}
	i := slices.Index(names, object.Name())
	return []slip{v.instead(Constant, id, names[(i+1)%len(names)])}
}

func sameKind(a, b types.Object) bool {
	_, constA := a.(*types.Const)
	_, constB := b.(*types.Const)
	_, varB := b.(*types.Var)
	return constA && constB || !constA && varB && strings.HasPrefix(b.Name(), "Err")
}

var opposite = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN,
}

// arithmetic has the opposite operation.
func arithmetic(v *view) []slip {
	switch n := v.node.(type) {
	case *ast.BinaryExpr:
		if other, ok := opposite[n.Op]; ok && !v.isString(n.X) {
			return []slip{v.operator(Operator, n, other)}
		}
	case *ast.AssignStmt:
		if other, ok := opposite[n.Tok]; ok && !v.isString(n.Lhs[0]) {
			at := v.offset(n.TokPos)
			return []slip{{Operator, at, at + len(n.Tok.String()), other.String()}}
		}
	case *ast.IncDecStmt:
		at := v.offset(n.TokPos)
		return []slip{{Operator, at, at + 2, map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]}}
	}
	return nil
}

func (v *view) isString(e ast.Expr) bool {
	b, ok := under(v.typeOf(e)).(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// extremes has min for max, or only one of what is compared.
func extremes(v *view) []slip {
	n, ok := v.node.(*ast.CallExpr)
	if !ok || len(n.Args) < 2 {
		return nil
	}
	id, ok := n.Fun.(*ast.Ident)
	if !ok {
		return nil
	}
	if _, isBuiltin := v.TypesInfo.Uses[id].(*types.Builtin); !isBuiltin {
		return nil
	}
	other := map[string]string{"min": "max", "max": "min"}[id.Name]
	if other == "" {
		return nil
	}
	all := []slip{v.instead(Operator, id, other)}
	for _, arg := range n.Args {
		all = append(all, v.instead(Operator, n, v.of(arg)))
	}
	return all
}
