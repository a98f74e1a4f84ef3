package generate

import (
	"go/ast"
	"go/token"
	"go/types"
)

// swap has each of two nodes in the place of the other.
func (v *view) swap(a, b ast.Node) slip {
	from, to := v.offset(a.Pos()), v.offset(b.End())
	return slip{Swapped, from, to, v.of(b) + v.text[v.offset(a.End()):v.offset(b.Pos())] + v.of(a)}
}

// swappedArguments swaps two neighbouring arguments of the same type.
func swappedArguments(v *view) []slip {
	n, ok := v.node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	if f, ok := v.TypesInfo.Types[n.Fun]; ok && f.IsBuiltin() {
		return nil
	}
	var all []slip
	for i := 1; i < len(n.Args); i++ {
		if a, b := n.Args[i-1], n.Args[i]; v.areAlike(a, b) {
			all = append(all, v.swap(a, b))
		}
	}
	return all
}

func (v *view) areAlike(a, b ast.Expr) bool {
	s, t := v.typeOf(a), v.typeOf(b)
	return s != nil && t != nil && types.Identical(types.Default(s), types.Default(t))
}

// swappedReceiver swaps the receiver and the only argument of a method, as of a.Sub(b).
func swappedReceiver(v *view) []slip {
	n, ok := v.node.(*ast.CallExpr)
	if !ok || len(n.Args) != 1 {
		return nil
	}
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || v.TypesInfo.Selections[s] == nil || !v.areAlike(s.X, n.Args[0]) {
		return nil
	}
	return []slip{v.swap(s.X, n.Args[0])}
}

// swappedOperands swaps the operands of an operation in which their order counts.
func swappedOperands(v *view) []slip {
	n, ok := v.node.(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	switch n.Op {
	case token.SUB, token.QUO, token.REM, token.LSS, token.LEQ, token.GTR, token.GEQ, token.AND_NOT:
		return []slip{v.swap(n.X, n.Y)}
	}
	return nil
}
