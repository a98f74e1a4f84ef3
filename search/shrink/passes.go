package shrink

// pass is one way to make a scenario simpler.
type pass struct {
	name string
	run  func(*shrinker)
}

// passes in their order: the structure from the largest parts to the smallest, then the numbers. What is large is taken
// out first, since it makes all further runs cheaper.
var passes = []pass{
	{"length", length},
	{"repeats", repeats},
	{"drawn settings", drawn},
	{"programs", programs},
	{"steps", steps},
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
	{"times", times},
	{"latency", latency},
	{"settings", defaults},
}
