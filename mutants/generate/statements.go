package generate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// statementSlips makes the slips of a statement.
func (v *view) statementSlips(s ast.Stmt) {
	v.dropped(s)
	switch n := s.(type) {
	case *ast.IfStmt:
		v.negate(Condition, n.Cond)
	case *ast.CaseClause:
		for _, e := range n.List {
			if v.has(e, types.IsBoolean) {
				v.negate(Condition, e)
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			v.negate(Condition, n.Cond)
		}
		v.once(n.Body)
	case *ast.RangeStmt:
		v.once(n.Body)
		if _, ok := v.typeOf(n.X).Underlying().(*types.Slice); ok { // it leaves out the first
			v.instead(Loop, n.X, v.of(n.X)+"[1:]")
		}
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			v.instead(Loop, n, other)
		}
		return
	case *ast.AssignStmt:
		v.operator(n.TokPos, n.Tok, n.Lhs[0])
	case *ast.IncDecStmt:
		v.operator(n.TokPos, n.Tok, n.X)
	case *ast.DeferStmt: // it is done at once
		class := Defer
		if v.isOfMutex(n.Call) {
			class = Locking
		}
		v.instead(class, n, v.of(n.Call))
	case *ast.ReturnStmt:
		v.results(n)
		return
	}
	v.returns(s)
}

// dropped leaves out a statement, with all that is in it.
func (v *view) dropped(s ast.Stmt) {
	if !v.isInList(s) {
		return
	}
	class := Statement
	switch n := s.(type) {
	case *ast.ExprStmt:
		call, isCall := n.X.(*ast.CallExpr)
		if isCall && len(call.Args) > 0 && v.isStep(call.Args[len(call.Args)-1]) {
			return // it only tells of a step
		}
		if v.isOfMutex(n.X) {
			class = Locking
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
	case *ast.DeferStmt:
		class = Defer
		if v.isOfMutex(n.Call) {
			class = Locking
		}
	case *ast.IfStmt:
		if body := n.Body.List; len(body) > 0 {
			if _, returns := body[len(body)-1].(*ast.ReturnStmt); returns {
				class = Return
			}
		}
	case *ast.ReturnStmt, *ast.BranchStmt:
		class = Return
	case *ast.BlockStmt, *ast.DeclStmt, *ast.LabeledStmt, *ast.EmptyStmt, *ast.TypeSwitchStmt, *ast.CommClause:
		return
	}
	v.instead(class, s, "")
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

// once has a loop end with its first turn.
func (v *view) once(body *ast.BlockStmt) { v.slip(Loop, body.Rbrace, body.Rbrace+1, "; break }") }

// returns goes back at the beginning of a branch or of a loop's body, with zeros for results.
func (v *view) returns(s ast.Stmt) {
	zeros, ok := v.zeros()
	if ok && v.isFirst(s) {
		v.slip(Return, s.Pos(), s.Pos(), strings.TrimSpace("return "+zeros)+"; ")
	}
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
	t := v.TypesInfo.Defs[v.function.Name].Type()
	for _, n := range v.above {
		if f, ok := n.(*ast.FuncLit); ok {
			t = v.typeOf(f)
		}
	}
	var all []string
	for result := range t.(*types.Signature).Results().Variables() {
		zero := "nil"
		switch u := result.Type().Underlying().(type) {
		case *types.Basic:
			switch {
			case u.Info()&types.IsBoolean != 0:
				zero = "false"
			case u.Info()&types.IsNumeric != 0:
				zero = "0"
			case u.Info()&types.IsString != 0:
				zero = `""`
			}
		case *types.Struct, *types.Array:
			return "", false
		}
		all = append(all, zero)
	}
	return strings.Join(all, ", "), true
}

// results has nil for an error, the opposite of a truth value that is computed, and a number that is one too small or too
// large.
func (v *view) results(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		text := v.of(e)
		switch {
		case v.isError(e):
			v.instead(Result, e, "nil")
		case v.has(e, types.IsBoolean) && text != "true" && text != "false":
			v.negate(Result, e)
		}
	}
	if len(n.Results) == 1 {
		v.offByOne(n.Results[0])
	}
}
