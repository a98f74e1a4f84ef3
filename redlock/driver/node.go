// Package driver defines what package redlock needs from the world around it: nodes, clocks and goroutines. Users of locks do
// not import it.
//
// An adapter to a Redis client library implements [Node], and [Listener] if it can subscribe; [redlocksim/redlock/goredis] is
// the one for go-redis, and redlocksim/redlock/rueidis that for rueidis. [Op] and [Conditions] say what a node must do with a
// [Command], and [Outcome] what it may answer. Simulators and tests also implement the parts of a [Runtime].
package driver

// Node is one independent Redis master: it shares no data with the other nodes and replicates to none of them.
//
// Package redlock reaches its servers only through this interface. Implementations must be safe for concurrent use.
type Node interface {
	// Name tells the node from the others in outcomes, events and logs. It does not change.
	Name() string

	// Do sends the commands of the batch to the node, in order, and returns without waiting for the replies. For each command
	// it calls Done at most once, from any goroutine, possibly before Do returns. A node that has not answered by the command's
	// Deadline may stay silent: the caller keeps the time itself. Do does not keep the slice, does not change the commands, and
	// does not use one after its Done was called.
	Do(batch []*Command)
}

// Replicated is a Node that has its replicas confirm what it accepts, as [Command.Replicas] asks, for redlock.WithReplicas.
type Replicated interface {
	Node

	// ConfirmsReplicas says that the node does.
	ConfirmsReplicas()
}

// Listener is a Node that can subscribe to channels, for redlock.WithWakeUp.
type Listener interface {
	Node

	// Listen calls heard with every message published on the channel, and returns without waiting. heard does not block and
	// may be called from any goroutine, also for a moment after stop was called. stop does not block either. Messages are lost
	// before the subscription exists and while the connection is broken.
	Listen(channel string, heard func(message string)) (stop func())
}
