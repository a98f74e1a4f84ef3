package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// dropped leaves out a statement, with all that is in it.
func dropped(v *view) []slip {
	statement, ok := v.node.(ast.Stmt)
	if !ok || !v.isInList(statement) {
		return nil
	}
	class := Statement
	switch n := statement.(type) {
	case *ast.ExprStmt:
		if v.tells(n.X) {
			return nil
		}
		if v.isOfMutex(n.X) {
			class = Locking
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return nil
		}
	case *ast.DeferStmt:
		class = Defer
		if v.isOfMutex(n.Call) {
			class = Locking
		}
	case *ast.IfStmt:
		if endsInReturn(n.Body) {
			class = Return
		}
	case *ast.ReturnStmt, *ast.BranchStmt:
		class = Return
	case *ast.IncDecStmt, *ast.GoStmt, *ast.SendStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.CaseClause:
	default:
		return nil
	}
	return []slip{v.instead(class, statement, "")}
}

// isInList reports whether a statement is one of a block's or a case's, and no part of another.
func (v *view) isInList(s ast.Stmt) bool {
	switch p := v.parent().(type) {
	case *ast.BlockStmt:
		return true
	case *ast.CaseClause:
		return slices.Contains(p.Body, s)
	case *ast.CommClause:
		return slices.Contains(p.Body, s)
	}
	return false
}

// isOfMutex reports whether an expression locks or unlocks a mutex.
func (v *view) isOfMutex(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := v.TypesInfo.Uses[s.Sel].(*types.Func)
	return ok && f.Pkg() != nil && f.Pkg().Path() == "sync" && strings.HasSuffix(f.Name(), "ock")
}

func endsInReturn(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

// deferred does at once what should be deferred.
func deferred(v *view) []slip {
	n, ok := v.node.(*ast.DeferStmt)
	if !ok {
		return nil
	}
	if v.isOfMutex(n.Call) {
		return []slip{v.instead(Locking, n, v.of(n.Call))}
	}
	return []slip{v.instead(Defer, n, v.of(n.Call))}
}

// returns goes back at the beginning of a branch or of a loop's body, with zeros for results.
func returns(v *view) []slip {
	statement, ok := v.node.(ast.Stmt)
	if !ok || !v.isFirst(statement) {
		return nil
	}
	switch statement.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return nil
	}
	zeros, ok := v.zeros()
	if !ok {
		return nil
	}
	at := v.offset(statement.Pos())
	return []slip{{Return, at, at, strings.TrimSpace("return "+zeros) + "; "}}
}

// isFirst reports whether a statement is the first of a block or case that is no function's.
func (v *view) isFirst(s ast.Stmt) bool {
	switch p := v.parent().(type) {
	case *ast.BlockStmt:
		if len(v.above) < 2 || p.List[0] != s {
			return false
		}
		switch v.above[len(v.above)-2].(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			return true
		}
	case *ast.CaseClause:
		return p.Body[0] == s
	}
	return false
}

// zeros are the zero results of the innermost function, if they can be written.
func (v *view) zeros() (string, bool) {
	var t types.Type = v.TypesInfo.Defs[v.function.Name].Type()
	for _, n := range slices.Backward(v.above) {
		if f, ok := n.(*ast.FuncLit); ok {
			t = v.typeOf(f)
			break
		}
	}
	signature := t.(*types.Signature)
	var all []string
	for i := range signature.Results().Len() {
		zero, ok := zeroOf(signature.Results().At(i).Type())
		if !ok {
			return "", false
		}
		all = append(all, zero)
	}
	return strings.Join(all, ", "), true
}

func zeroOf(t types.Type) (string, bool) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false", true
		case u.Info()&types.IsNumeric != 0:
			return "0", true
		case u.Info()&types.IsString != 0:
			return `""`, true
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return "nil", true
	}
	return "", false
}

// results has nil for an error, and the opposite of a truth value that is computed.
func results(v *view) []slip {
	n, ok := v.node.(*ast.ReturnStmt)
	if !ok {
		return nil
	}
	var all []slip
	for _, e := range n.Results {
		id, isIdentifier := e.(*ast.Ident)
		switch {
		case isError(v.typeOf(e)):
			all = append(all, v.instead(Result, e, "nil"))
		case v.isBool(e) && !(isIdentifier && (id.Name == "true" || id.Name == "false")):
			s := v.negate(e)
			s.class = Result
			all = append(all, s)
		}
	}
	return all
}

// loops ends after the first turn, or leaves out the first; and goes on where a loop ends, or ends where it goes on.
func loops(v *view) []slip {
	switch n := v.node.(type) {
	case *ast.ForStmt:
		return []slip{v.once(n.Body)}
	case *ast.RangeStmt:
		all := []slip{v.once(n.Body)}
		if _, ok := under(v.typeOf(n.X)).(*types.Slice); ok {
			all = append(all, v.instead(Loop, n.X, v.of(n.X)+"[1:]"))
		}
		return all
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			return []slip{v.instead(Loop, n, other)}
		}
	}
	return nil
}

// once has a loop end with its first turn.
func (v *view) once(body *ast.BlockStmt) slip {
	at := v.offset(body.Rbrace)
	return slip{Loop, at, at + 1, "; break }"}
}
