package driver

// Node is one independent Redis master: it shares no data with the other nodes and replicates to none of them.
//
// Package redlock reaches its servers through this interface and nothing else; [redlocksim/redlock/goredis] implements it
// for go-redis. Implementations must be safe for concurrent use.
type Node interface {
	// Name tells the node from the others in outcomes, events and logs. It does not change.
	Name() string

	// Do sends the commands of the batch to the node, in order, and returns without waiting for the replies. For each
	// command it calls Done at most once, from any goroutine, also before Do returns. A node that has not answered at
	// the command's Deadline may stay silent: the caller keeps the time itself. The batch slice is not kept after Do
	// returns; the commands are not changed, and not used after their Done was called.
	Do(batch []*Command)
}

// Listener is a Node on which one can listen for what is published, for the wake-up of [redlocksim/redlock.WithWakeUp].
type Listener interface {
	Node

	// Listen has heard called once for every message published on the channel, and returns without waiting. heard does not
	// block and may be called from any goroutine, also for a little while after stop was called. stop does not block
	// either. Messages from before the node has the subscription, and from while the connection is broken, are lost.
	Listen(channel string, heard func()) (stop func())
}
