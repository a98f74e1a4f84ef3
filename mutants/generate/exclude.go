package generate

import (
	"go/ast"
	"go/types"
	"slices"
)

// What has no bugs planted into it: the checks of options and arguments, with the branches that hand their errors on; texts of
// errors and of String methods, observers (whose packages are in no Target), and subscriptions. In scenarios/protocols only the
// locks have bugs: neither settings with their encoding, checks and names, nor misuse, nor the code with which the simulator
// drives the library, nor what a lock tells of its steps, which is what an observer is told.

// excludedFiles are those of subscriptions, and those in scenarios/protocols that are no lock.
var excludedFiles = []string{
	"redlock/goredis/listen.go",
	"scenarios/protocols/capabilities.go", "scenarios/protocols/encoding.go", "scenarios/protocols/habits.go",
	"scenarios/protocols/misuse.go", "scenarios/protocols/own.go", "scenarios/protocols/presets.go",
	"scenarios/protocols/protocol.go", "scenarios/protocols/redlock.go", "scenarios/protocols/settings.go",
	"scenarios/protocols/unprefixed.go", "scenarios/protocols/witness.go",
}

// checks are the functions that only check options and arguments.
var checks = []string{
	"wholeMilliseconds", "Drift.allowance", "checkOptions", "oneMaster",
}

// invalid are the errors of such checks. A statement or case that returns one is part of a check.
var invalid = []string{"ErrInvalid", "ErrOptions", "ErrClient", "OptionsError", "wholeMilliseconds"}

// isText reports whether a function makes a text for people, or a name by which monitors know a lease.
func isText(f *ast.FuncDecl) bool {
	return f.Name.Name == "String" || f.Name.Name == "Error" || f.Name.Name == "Holder" || functionName(f) == "Outcome.Of"
}

// isExcluded reports whether a node, whose parent is the last of those above it, has no bugs planted into it.
func (p *source) isExcluded(n ast.Node, above []ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Else == nil && (mentions(n, invalid) || p.handsOn(n, above))
	case *ast.AssignStmt:
		return isCheck(n) || !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !p.isOfStep(e) })
	case *ast.CaseClause, *ast.ReturnStmt:
		return isCheck(n)
	case *ast.CompositeLit:
		return p.isStep(n)
	case ast.Expr:
		if p.isTold(n, above) {
			return true
		}
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return mentions(n.Fun, []string{"Errorf", "Sprintf"}) || isCallOf(n, "errors", "New")
	}
	return false
}

// step is the type of what a lock tells of its steps.
const step = "Step"

// isStep reports whether an expression is a step, as a lock tells of it.
func (p *source) isStep(e ast.Expr) bool { return isNamed(p.TypesInfo.TypeOf(e), p.Types.Path(), step) }

// isOfStep reports whether an expression is a field of a step.
func (p *source) isOfStep(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && p.isStep(s.X)
}

// isTold reports whether an expression is a field of a step, or what one is set to, in a statement that does more than that.
func (p *source) isTold(e ast.Expr, above []ast.Node) bool {
	if p.isOfStep(e) {
		return true
	}
	n, ok := above[len(above)-1].(*ast.AssignStmt)
	if !ok || len(n.Lhs) != len(n.Rhs) {
		return false
	}
	i := slices.Index(n.Rhs, e)
	return i >= 0 && p.isOfStep(n.Lhs[i])
}

// tells reports whether a call does nothing but tell of a step.
func (p *source) tells(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	return ok && len(call.Args) > 0 && p.isStep(call.Args[len(call.Args)-1])
}

// handsOn reports whether a branch is for the error of a check or option that is called in it or in the statement before.
func (p *source) handsOn(n *ast.IfStmt, above []ast.Node) bool {
	called := n.Init
	if block, ok := above[len(above)-1].(*ast.BlockStmt); ok && called == nil {
		if i := slices.Index(block.List, ast.Stmt(n)); i > 0 {
			called = block.List[i-1]
		}
	}
	assigned, ok := called.(*ast.AssignStmt)
	if !ok || len(assigned.Rhs) != 1 {
		return false
	}
	call, ok := assigned.Rhs[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	err, ok := assigned.Lhs[len(assigned.Lhs)-1].(*ast.Ident)
	return ok && isError(p.TypesInfo.TypeOf(err)) && mentions(n.Cond, []string{err.Name}) && p.isCheckOrOption(call.Fun)
}

// isCheckOrOption reports whether what is called is one of the checks, or a value of a type Option.
func (p *source) isCheckOrOption(called ast.Expr) bool {
	if t, ok := p.TypesInfo.TypeOf(called).(*types.Named); ok && t.Obj().Name() == "Option" {
		return true
	}
	id, ok := called.(*ast.Ident)
	if s, isSelector := called.(*ast.SelectorExpr); isSelector {
		id, ok = s.Sel, true
	}
	if !ok {
		return false
	}
	f, ok := p.TypesInfo.Uses[id].(*types.Func)
	if !ok || f.Pkg() != p.Types {
		return false
	}
	name := f.Name()
	if receiver := f.Signature().Recv(); receiver != nil {
		if t, ok := receiver.Type().(*types.Named); ok {
			name = t.Obj().Name() + "." + name
		}
	}
	return slices.Contains(checks, name)
}

// isCheck reports whether a statement without statements in it, or a case, gives the error of a check.
func isCheck(n ast.Node) bool {
	isClosure := func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok }
	if _, returns := n.(*ast.ReturnStmt); returns && contains(n, isClosure) {
		return false // the closure of an option
	}
	return mentions(n, invalid)
}

func mentions(n ast.Node, names []string) bool {
	return contains(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && slices.Contains(names, id.Name)
	})
}

func contains(n ast.Node, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

func isCallOf(c *ast.CallExpr, pkg, name string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}
