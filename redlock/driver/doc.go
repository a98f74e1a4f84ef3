// Package driver defines what package redlock needs of the world around it: nodes, clocks and goroutines. Users of locks do
// not import it.
//
// Adapters to a Redis client library implement [Node], and [Listener] if they can subscribe; [redlocksim/redlock/goredis] is
// the one for go-redis. What a node must do with a [Command] is said at [Op] and [Conditions], and what it may answer at
// [Outcome]. Simulators and tests also implement [Clock] and [Tasks]; in production those are [SystemClock] and
// [SystemTasks], which a client uses without being told.
package driver
