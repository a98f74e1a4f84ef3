// Package locktest tests lock settings, or a lock of your own, with pgregory.net/rapid: for all plans of faults within some
// assumptions, mutual exclusion is kept.
//
// [Setup] names the settings and the assumptions, [Experiments] draws experiments within them, and [MutualExclusion] runs
// one in the simulator and fails the test with the story of what went wrong and the smallest experiment that still shows
// it. [Parse] is an experiment from a scenario file, such as a failure prints, and [Breaks] is the test that a setting is
// as bad as one thinks.
//
// Half of the experiments are drawn from all faults and workloads there are. The other half are the schedules of the
// literature in which the bounds are tight: the holder has a bare quorum, the nodes lose it as the assumptions allow, at
// their worst more often than not, and somebody else asks at that moment. A random plan seldom comes close to a bound by
// itself, and a property that a hundred random plans keep says little without these.
//
// A test in which nothing is found is no proof: it is a sample of plans, run with perfect knowledge of what happened. The
// lock under test must reach the world through the simulator alone; see [Setup].
package locktest
