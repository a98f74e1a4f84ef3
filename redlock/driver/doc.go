// Package driver defines what package redlock needs from the world around it: nodes, clocks and goroutines. Users of locks do
// not import it.
//
// An adapter to a Redis client library implements [Node], and [Listener] if it can subscribe; [redlocksim/redlock/goredis] is
// the one for go-redis, and redlocksim/redlock/rueidis that for rueidis. [Op] and [Conditions] say what a node must do with a
// [Command], and [Outcome] what it may answer. Simulators and tests also implement the parts of a [Runtime].
package driver
