package shrink

// pass is one way to make a scenario simpler.
type pass struct {
	name string
	run  func(*shrinker)
}

// passes in their order: the structure from the largest parts to the smallest, then the numbers, then order
// and names. What is large is taken out first, since it makes all further runs cheaper.
var passes = []pass{
	{"length", length},
	{"observed", observed},
	{"repeats", repeats},
	{"drawn settings", drawn},
	{"programs", programs},
	{"steps", steps},
	{"sleeps", asleep},
	{"substitutes", plainer},
	{"goroutines", goroutines},
	{"calls", calls},
	{"clients", clients},
	{"resources", resources},
	{"faults", fewerFaults},
	{"nodes", nodes},
	{"replicas", replicas},
	{"fields", fields},
	{"moments", moments},
	{"sizes", sizes},
	{"shifts", shifts},
	{"times", times},
	{"equal numbers", equal},
	{"latency", latency},
	{"settings", defaults},
	{"order", order},
	{"names", names},
}
