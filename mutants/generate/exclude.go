package generate

import (
	"go/ast"
	"slices"
)

// What has no bugs planted into it: the checks of options and arguments, texts of errors and of String methods, observers
// (whose packages are in no Target), and subscriptions.

// excludedFiles are those of subscriptions.
var excludedFiles = []string{"redlock/goredis/listen.go"}

// checks are the functions that only check options and arguments.
var checks = []string{"wholeMilliseconds", "Drift.allowance", "checkOptions", "oneMaster", "checkNamedOnce", "placeOf", "canonicalHost"}

// invalid are the errors of such checks. A statement or case that returns one is part of a check.
var invalid = []string{"ErrInvalid", "ErrOptions", "ErrClient", "OptionsError", "wholeMilliseconds"}

// isText reports whether a function makes a text for people.
func isText(f *ast.FuncDecl) bool {
	return f.Name.Name == "String" || f.Name.Name == "Error" || functionName(f) == "Outcome.Of"
}

func isExcluded(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Else == nil && mentions(n, invalid)
	case *ast.CaseClause, *ast.ReturnStmt, *ast.AssignStmt:
		return isCheck(n)
	case *ast.CallExpr:
		return mentions(n.Fun, []string{"Errorf", "Sprintf"}) || isCallOf(n, "errors", "New")
	}
	return false
}

// isCheck reports whether a statement without statements in it, or a case, gives the error of a check.
func isCheck(n ast.Node) bool {
	if _, isFunction := n.(*ast.ReturnStmt); isFunction && contains(n, func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok }) {
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
