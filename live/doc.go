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
// The programs of clients and the protocols are those of the simulator, on a host that is a process of its own: one thing
// runs at a time in it, but for the shipped library, which has goroutines as in production. Protocols whose service is a part
// of the simulator, a database or a lock service, stay there.
//
// [Soak] plays no scenario: it has many clients take locks for minutes while everything fails at random.
//
// Faults are what they are called: SIGSTOP and SIGKILL, kill −9 of a redis-server and its start with what is on its disk,
// messages that a proxy drops, keeps or delays, REPLICAOF NO ONE. Four are imitated. A power loss is a kill after which the
// append-only file is cut back to its length at the last fsync and connections get no answer. A server's wall clock is stepped,
// and made fast or slow, by a library that is loaded into it; its timers go by the machine's monotonic clock. A client's clocks
// are those of its driver.Clock, which reads what its parent makes of the machine's; its sockets time out by the machine's.
// And a suspended machine is a client that is stopped, and whose monotonic clock stands still until it goes on. A rate is not
// multiplied by the speed of the run: a clock that is 10 % fast is 10 % faster than the machine's.
//
// Replicas follow their masters through proxies of their own. What a master has sent and they have not got when it stops is
// dropped there, as if it had been in its buffers; such runs with slow replicas are as slow as their scenario. After a failover
// the proxies of the clients lead to who was promoted, and the connections of before are broken.
//
// No fault of a link touches the answer to HELLO, as setting up a connection is free in the simulator too.
//
// It runs on Linux, with redis-server on the PATH. Faults that change a node's clock or take its power need a C compiler
// too (cc), for a library that is loaded into redis-server.
package live
