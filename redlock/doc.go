// Package redlock is a distributed lock over N independent Redis masters, after the Redlock algorithm of the Redis
// documentation ("Distributed Locks with Redis").
//
// Most programs need three things: a [Client] over nodes that [redlocksim/redlock/goredis] makes from go-redis
// clients, [Client.Lock], and [Lease.Unlock]:
//
//	client, err := redlock.New(nodes)
//	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
//	if err != nil { ... }
//	defer lease.Unlock(context.Background())
//	work(lease.Context()) // ends before the lease does
//
// [Client.Hold] does that with a function, and renews the lease until it returns. Waiting for a lock is bounded by the context
// that is given and by nothing else; [WithWakeUp] makes it shorter where locks are waited for. [Client.LockAll] takes one
// lock on several resources.
//
// A second Lock on a resource waits for the first, also in the same goroutine. There is no counting of who locked how
// often: what is called under the lock, and must not take it again, is given the [Lease], which says what it holds
// (Resources), until when, and ends its Context for all alike. Who locked it unlocks it.
//
// Goroutines that want the same resources share a client: they wait for each other inside it, first come, first served,
// and cost the nodes no more than one of them. Between clients there is no such order.
//
// A lock that expires is a lease: while a client is paused, or its packets are, the lease can end and another client
// can be granted the lock. The Context of the lease tells a client that runs; nothing can tell one that does not. Work
// that must not happen twice needs a resource that refuses late writers (fencing), or a check of its own. The lock is
// safe only while clocks run at rates that the drift allowance covers, and while no node forgets a key before it
// expires: run nodes with AOF and fsync always, or keep a restarted node out for longer than the largest TTL.
//
// Two options help with that, and are off unless asked for. [WithFencing] gives each grant of a resource a number higher
// than those of all grants before it ([Lease.Token]), as long as fewer than w + q − N of the w nodes that voted for one
// of them have ever lost their counters. [WithRestartGuard] keeps a node that restarted or was emptied from voting until
// every lock that it may have forgotten has ended, whatever becomes of its clock; [Client.PrepareGuard] prepares new
// nodes.
//
// Adapters to a Redis client library, and simulators, implement what is in [redlocksim/redlock/driver].
//
// The files follow the algorithm: lock.go (the loop), queue.go (whose turn it is), attempt.go (one attempt), value.go, round.go (asking all nodes
// at once), command.go (what one node is asked), batch.go (what concurrent calls ask of a node goes together), quorum.go,
// validity.go, release.go, extend.go, lease.go, straggler.go (answers that come late); then renew.go, wake.go, fencing.go
// and guard.go.
package redlock
