// Package live runs scenarios against server processes, over TCP, through fault proxies: the proof that the simulator tells
// the truth. Nodes are redis-servers, or what a lock program needs: the members of an etcd cluster or a ZooKeeper ensemble, or
// PostgreSQL servers. The scenario files, the library and the checkers are the same; nodes, network, clients and time are
// real.
//
// [Run] runs a scenario. [Unfit] says which scenarios a real deployment cannot show, and why. Package soak below runs no
// scenario: it lets many clients take locks for minutes while faults are injected at random. Clients are processes of their
// own, so that they can be stopped and killed. A program that uses Run must call [Client] when it is started as
// [Options].Client says.
//
// # Time
//
// True time is the machine's CLOCK_MONOTONIC, which all processes read. A run is [Options].Speed times as fast as its scenario.
// TTLs, sleeps, retry delays and the times of faults are divided by the speed, and the times in the history are multiplied by
// it. Times that belong to the machine are not divided: those of messages, restarts and fsyncs (Redis fsyncs once a second),
// the milliseconds in which Redis counts, and so the constant part of the drift, and node timeouts below 50 ms. The rate of a
// clock is not multiplied: a clock that is 10 % fast is 10 % faster than the machine's. Latencies of the scenario are not
// added.
//
// Durations, and how often a client tries or is overtaken, therefore mean nothing in such a run. Findings, grants and leaked
// keys do. A scenario runs at its own speed if a fault must outlast the node timeout and would not when divided.
//
// A busy machine delays processes, and then another scenario happens than the one that was written. So a run measures by how
// much it was held up; see [Run].
//
// # Clients
//
// Programs and protocols are those of the simulator. In a client process one of them runs at a time, except for the shipped
// library, which has goroutines as in production. Of protocols whose service is a part of the simulator, a database or a lock
// service, only lock programs for real ones can take the place.
//
// # Faults
//
// Most faults are real: SIGSTOP and SIGKILL, kill -9 of a redis-server and a restart with what is on its disk, messages that a
// proxy drops, holds back or delays, REPLICAOF NO ONE. Four are imitated. A power loss is a kill, after which the append-only
// file is cut to its length at the last fsync and connections get no answer. A server's wall clock is set by a library that is
// preloaded into it; its timers go by the machine's monotonic clock. A client's clocks are those of its driver.Clock, which its
// parent sets; its sockets time out by the machine's clock. A suspended machine is a client that is stopped and whose monotonic
// clock stands still.
//
// Replicas follow their masters through proxies of their own. When a master stops, what it has sent and its replicas have not
// received is dropped there, as if it had been in the master's buffers. Runs with slow replicas are as slow as their scenario.
// After a failover the clients' proxies lead to the promoted replica, and the old connections are broken.
//
// The members of an etcd cluster connect to each other through proxies, too. The first is made the leader before the run
// begins. Elections take as much less time as the run is faster; leases do not, so it is at most twice as fast. So it is with a
// ZooKeeper ensemble, whose elections take a fifth of a second at least. A power loss is a kill after which connections get no
// answer: etcd answers only when it has fsynced, and ZooKeeper and PostgreSQL do, too. The clocks of all are the machine's.
//
// When a believed window ended is known when the run is over, so nothing can wait for that.
//
// No fault of a link touches the answer to HELLO, as connecting is free in the simulator too.
//
// The package needs Linux and the servers on the PATH. Faults that change a node's clock or take its power also need a C
// compiler (cc), for the library that is preloaded into redis-server.
package live
