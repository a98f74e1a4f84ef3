package generate

import (
	"go/ast"
	"go/token"
)

// negated has a whole condition, or an operand of && and ||, the wrong way round.
func negated(v *view) []slip {
	var condition ast.Expr
	switch n := v.node.(type) {
	case *ast.IfStmt:
		condition = n.Cond
	case *ast.ForStmt:
		condition = n.Cond
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			return []slip{v.negate(n.X), v.negate(n.Y)}
		}
	case *ast.CaseClause:
		var all []slip
		for _, e := range n.List {
			if v.isBool(e) {
				all = append(all, v.negate(e))
			}
		}
		return all
	}
	if condition == nil {
		return nil
	}
	return []slip{v.negate(condition)}
}

func (v *view) negate(e ast.Expr) slip {
	if not, ok := e.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		return v.instead(Condition, e, v.of(not.X))
	}
	return v.instead(Condition, e, "!("+v.of(e)+")")
}

var strictness = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

// boundary counts the limit itself in, or out. Instants are compared with Before and After.
func boundary(v *view) []slip {
	switch n := v.node.(type) {
	case *ast.BinaryExpr:
		if other, ok := strictness[n.Op]; ok {
			return []slip{v.operator(Boundary, n, other)}
		}
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) != 1 || !v.isTime(s.X) {
			return nil
		}
		if other := map[string]string{"After": "Before", "Before": "After"}[s.Sel.Name]; other != "" {
			return []slip{v.instead(Boundary, n, "!"+v.of(s.X)+"."+other+"("+v.of(n.Args[0])+")")}
		}
	}
	return nil
}

// operator is the slip that has another operator between the operands.
func (v *view) operator(c Class, n *ast.BinaryExpr, other token.Token) slip {
	at := v.offset(n.OpPos)
	return slip{c, at, at + len(n.Op.String()), other.String()}
}

// logic has the other of && and ||, or forgets an operand.
func logic(v *view) []slip {
	n, ok := v.node.(*ast.BinaryExpr)
	switch {
	case ok && n.Op == token.LAND:
		return []slip{v.operator(Logic, n, token.LOR), v.instead(Logic, n, v.of(n.X)), v.instead(Logic, n, v.of(n.Y))}
	case ok && n.Op == token.LOR:
		return []slip{v.operator(Logic, n, token.LAND), v.instead(Logic, n, v.of(n.X)), v.instead(Logic, n, v.of(n.Y))}
	}
	return nil
}

// offByOne has a number that is compared or returned one too small or too large.
func offByOne(v *view) []slip {
	var number ast.Expr
	switch n := v.node.(type) {
	case *ast.BinaryExpr:
		if _, ok := strictness[n.Op]; ok || n.Op == token.EQL || n.Op == token.NEQ {
			number = n.Y
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			number = n.Results[0]
		}
	}
	if number == nil || !v.isInteger(number) || v.isLiteral(number) || v.isDuration(number) {
		return nil
	}
	return []slip{v.instead(OffByOne, number, v.of(number)+" + 1"), v.instead(OffByOne, number, v.of(number)+" - 1")}
}

func (v *view) isLiteral(e ast.Expr) bool { _, ok := e.(*ast.BasicLit); return ok }

func (v *view) isDuration(e ast.Expr) bool { return isNamed(v.typeOf(e), "time", "Duration") }
