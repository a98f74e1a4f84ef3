// Package conformance compares the Redis nodes of the simulator, those of [redlocksim/sim/model] and those of
// [redlocksim/sim/wire], with a redis-server process, reply by reply. It is for tests: random sequences of commands, of the
// library's own operations, of restarts and of time that goes on or jumps, which all three are given alike. [AgainstServer] is
// for those of an adapter.
//
// The wall clock of the redis-server stands still and is set by the tests (see [redlocksim/internal/faketime]), so a key
// is looked at exactly one millisecond before, at and after its deadline. More sequences:
//
//	go test ./sim/conformance -rapid.checks=5000
//
// Where the nodes of the simulator differ from redis-server on purpose, the table in deviations_test.go says how and why.
package conformance
