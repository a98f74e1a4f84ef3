package generate

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// What has no bugs planted into it: the checks of options and arguments, with the branches that hand their errors on; texts of
// errors and of String methods, observers (whose packages are never loaded), and subscriptions. In scenarios/protocols only the
// locks have bugs: neither settings with their encoding, checks and names, nor the code with which the simulator
// drives the library, nor what a lock tells of its steps, which is what an observer is told.

// excludedFiles are those of subscriptions, and those in scenarios/protocols that are no lock.
var excludedFiles = []string{
	"redlock/goredis/listen.go",
	"scenarios/protocols/capabilities.go", "scenarios/protocols/encoding.go", "scenarios/protocols/habits.go",
	"scenarios/protocols/own.go", "scenarios/protocols/presets.go",
	"scenarios/protocols/protocol.go", "scenarios/protocols/redlock.go", "scenarios/protocols/settings.go",
	"scenarios/protocols/events.go",
}

// checks are the functions that only check options and arguments.
var checks = []string{
	"wholeMilliseconds", "Drift.allowance", "checkOptions", "oneMaster",
}

// isExcluded reports whether a function has no bugs: a check, or one that makes a text for people, or a name by which monitors
// know a lease.
func isExcluded(name string) bool {
	return slices.Contains(checks, name) || regexp.MustCompile(`(^|\.)(String|Error|Holder)$|^Outcome\.Of$`).MatchString(name)
}

var (
	// invalid are the errors of checks. A statement or case that gives one is part of a check.
	invalid = regexp.MustCompile(`\b(ErrInvalid|ErrOptions|ErrClient|OptionsError|wholeMilliseconds)\b`)
	// text is what makes an error or a text.
	text = regexp.MustCompile(`\b(Errorf|Sprintf)$|^errors\.New$`)
)

// isExcluded reports whether the node has no bugs planted into it.
func (v *view) isExcluded() bool {
	switch n := v.node.(type) {
	case *ast.IfStmt:
		return n.Else == nil && (invalid.MatchString(v.of(n)) || v.handsOn(n))
	case *ast.AssignStmt:
		return invalid.MatchString(v.of(n)) || !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !v.isOfStep(e) })
	case *ast.ReturnStmt: // but for the closure of an option
		return invalid.MatchString(v.of(n)) && !strings.Contains(v.of(n), "func(")
	case *ast.CaseClause:
		return invalid.MatchString(v.of(n))
	case *ast.CallExpr:
		return v.isTold(n) || text.MatchString(v.of(n.Fun))
	case ast.Expr:
		_, isLiteral := n.(*ast.CompositeLit)
		return v.isTold(n) || isLiteral && v.isStep(n)
	}
	return false
}

// isStep reports whether an expression is a step, as a lock tells of it, and isOfStep whether it is a field of one.
func (v *view) isStep(e ast.Expr) bool { return v.isA(e, v.PkgPath, "Step") }

func (v *view) isOfStep(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && v.isStep(s.X)
}

// isTold reports whether an expression is a field of a step, or what one is set to, in a statement that does more than that.
func (v *view) isTold(e ast.Expr) bool {
	n, ok := v.parent().(*ast.AssignStmt)
	i := -1
	if ok && len(n.Lhs) == len(n.Rhs) {
		i = slices.Index(n.Rhs, e)
	}
	return v.isOfStep(e) || i >= 0 && v.isOfStep(n.Lhs[i])
}

// handsOn reports whether a branch is for the error of a check or option that is called in it or in the statement before.
func (v *view) handsOn(n *ast.IfStmt) bool {
	called := n.Init
	if block, ok := v.parent().(*ast.BlockStmt); ok && called == nil {
		if i := slices.Index(block.List, ast.Stmt(n)); i > 0 {
			called = block.List[i-1]
		}
	}
	assigned, ok := called.(*ast.AssignStmt)
	if !ok || len(assigned.Rhs) != 1 {
		return false
	}
	call, ok := assigned.Rhs[0].(*ast.CallExpr)
	err := assigned.Lhs[len(assigned.Lhs)-1]
	if !ok || !v.isError(err) || !regexp.MustCompile(`\b`+v.of(err)+`\b`).MatchString(v.of(n.Cond)) {
		return false
	}
	if t, ok := v.typeOf(call.Fun).(*types.Named); ok && t.Obj().Name() == "Option" {
		return true
	}
	name := v.of(call.Fun)
	name = name[strings.LastIndexByte(name, '.')+1:]
	return slices.ContainsFunc(checks, func(check string) bool { return check == name || strings.HasSuffix(check, "."+name) })
}
