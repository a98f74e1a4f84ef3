package rules

// Table has all rules, in the order of docs/checker.md, which is made of them. Each is in the file of its name.
var Table = []Rule{
	commandsRule,
	returnedCallsRule,
	replicatedRule,
	otherCallsRule,
	leaseContextsRule,
	beliefsRule,
	worksRule,
	refusalsRule,
	returnsRule,
	tokensRule,
	guardedVotesRule,
	permitsRule,
	programReleasesRule,
	specifiedStepsRule,
	protectedRule,
	letGoRule,
	inTheClearRule,
	pausesRule,
}
