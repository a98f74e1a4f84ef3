// Package live runs scenarios against redis-server processes, over TCP, through fault proxies: the proof that the
// simulator tells the truth. The same scenario file, the same library and the same checkers; nodes, network, clients and
// time are those of the machine.
//
// [Run] makes one run. [Unfit] says which scenarios a real deployment cannot show, and why. A program that uses Run must
// call [Client] where it is started with the arguments of [Options].Client: clients are processes of their own, so that
// they can be stopped and killed.
//
// True time is the machine's CLOCK_MONOTONIC, which all processes read, and a run is [Options].Speed times as fast as
// its scenario: TTLs, sleeps, delays of retries and the moments and lengths of faults are divided by it, and the times
// in the history multiplied. What belongs to the machine is not divided: the time that messages, restarts and fsyncs
// take (Redis fsyncs every second of the machine), the millisecond in which Redis counts, hence the constant part of the
// drift, and the node timeout below 50 ms. The latencies of the scenario are not added. So expectations about durations,
// and about how often somebody tries or is passed by, say nothing about such a run; those about findings, grants and leaked
// keys do. A scenario with a fault that is longer than the node timeout, and would no longer be so, runs at its own speed.
//
// A machine that is busy with other things holds processes up, and then another scenario is played than the one that was
// written. So a run measures by how much it was held up; see [Run].
//
// [Soak] plays no scenario: it has many clients take locks for minutes while everything fails at random.
//
// Faults are what they are called: SIGSTOP and SIGKILL, kill −9 of a redis-server and its start with what is on its disk,
// messages that a proxy drops, keeps or delays. Three are imitated: a power loss is a kill after which the append-only file
// is cut back to its length at the last fsync and connections get no answer; a server's wall clock is stepped by a library
// that is loaded into it; a client's by its redlock.Clock. No fault of a link touches the answer to HELLO, as setting up
// a connection is free in the simulator too.
//
// It runs on Linux, with redis-server on the PATH. Faults that step a node's clock or take its power need a C compiler
// too (cc), for a library that is loaded into redis-server.
package live
