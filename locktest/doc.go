// Package locktest tests lock settings, or a lock of your own, for mutual exclusion under faults. It draws fault plans
// within your assumptions with pgregory.net/rapid and runs them in a simulator.
//
// [Setup] has the settings and the assumptions, [Experiments] draws experiments within them, and [MutualExclusion] runs
// one. [Promises] asks of the same run whether what the lock told its callers was true. If either fails, it prints the story
// of what went wrong and the smallest experiment that still shows it. [Parse] reads
// an experiment from a scenario file, such as a failure prints. [Breaks] tests that settings are as bad as you think.
//
// Half of the experiments are drawn from all faults and workloads. The other half are the schedules of the literature in which
// the bounds are tight: the holder has a bare quorum, loses it as far as the assumptions allow, and another client asks at that
// moment. Random plans seldom come close to a bound, so passing a hundred of them says little without these.
//
// A test that passes is no proof: it is a sample of plans, judged with perfect knowledge of what happened.
//
// A lock library that is to be tested as it is, with goroutines and connections of its own, is a lock program: see
// Setup.Program. Setup.Lock is for a lock that reaches the world through the simulator alone.
package locktest
