// Package redlock is a distributed lock over N independent Redis masters: the Redlock algorithm of the Redis documentation.
//
//	nodes, err := goredis.Open("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379")
//	client, err := redlock.New(nodes)
//	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
//	defer lease.Unlock(context.Background())
//	work(lease.Context()) // cancelled before the lease ends
//
// [Client.Lock] waits until ctx ends; [Client.TryLock] does not wait. [Client.LockAll] takes one lock on several resources.
// [Client.Hold] locks, calls a function, renews the lease while it runs, and unlocks.
//
// Goroutines that want the same lock should share a client: they queue in it, first come, first served, and only the first asks
// the nodes. Locks are not reentrant. Pass the [Lease] to code that runs under the lock.
//
// A lock is a lease: if its holder is paused for longer than the TTL, another client can get the lock. The lease's Context
// tells a holder that runs, and nothing can tell one that is paused. Work that must not happen twice needs [WithFencing], and
// storage that rejects a lower [Lease.Token] than it has seen.
//
// The lock is safe as long as no clock drifts by more than [WithDrift] allows and no node forgets a key early. Run the nodes
// with appendfsync always, or use [WithRestartGuard], which keeps a restarted node from voting until the locks it may have
// forgotten have expired.
//
// A call that the nodes do not grant returns an [*Error], with what each of them answered. Adapters to other Redis clients
// implement [redlocksim/redlock/driver]; observers are in [redlocksim/redlock/observe].
package redlock

// The algorithm of the paper, as one call passes it: lock.go repeats attempts, and turn.go says when, after the others of this
// client in queue.go and as soon as pace.go allows. attempt.go is one attempt: it reads the clock, asks all nodes, or one
// before the others (gate.go), waits for a quorum, and computes the validity. round.go sends a command to nodes and takes
// their answers, batch.go sends it to each, tally.go counts the votes, and straggler.go says what one means that comes later.
// A grant is a lease (lease.go), and a refusal is cleaned up (release.go); acquisition.go is what both know of the keys that
// were set. peer.go knows how each node answers, and owed.go repeats the releases that it has not confirmed. What a holder does
// is extend.go, renew.go and release.go. options.go has the settings, of which fencing.go, guard.go and wake.go are those with
// more behind them. No file uses one that uses it.
