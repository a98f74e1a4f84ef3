package generate

// operators make the slips of one node each. They look at no other node but its parts, so that a slip has one place.
var operators = []func(*view) []slip{
	negated, boundary, logic, offByOne,
	constants, siblings, arithmetic, extremes,
	swappedArguments, swappedReceiver, swappedOperands,
	variables, fields, contexts, notCopied, shared,
	dropped, deferred, returns, results, loops,
}
