package redlockotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/reason"
)

// The attributes of spans and their events.
const (
	Resource = attribute.Key("redlock.resource") // what is locked
	Value    = attribute.Key("redlock.value")    // observe.Fingerprint of the value on the nodes, one for each attempt
	Attempt  = attribute.Key("redlock.attempt")  // which attempt of the call, from 1
	Validity = attribute.Key("redlock.validity") // what is left of the lease, in seconds
	Token    = attribute.Key("redlock.token")    // the fencing token
	Delay    = attribute.Key("redlock.delay")    // of retrying and yielding, in seconds
	Accepted = attribute.Key("redlock.accepted") // how many nodes had released the key
	Nodes    = attribute.Key("redlock.nodes")    // what each node answered, where something failed
	Reason   = attribute.Key("error.type")       // why it failed
)

// why says why something failed and what each node answered.
func why(err error) []attribute.KeyValue {
	attrs := []attribute.KeyValue{Reason.String(reason.Of(err))}
	failed := (*redlock.Error)(nil)
	if !errors.As(err, &failed) || failed.Nodes == nil {
		return attrs
	}
	nodes := make([]string, len(failed.Nodes))
	for i, n := range failed.Nodes {
		nodes[i] = answer(n, failed.Op)
	}
	return append(attrs, Nodes.StringSlice(nodes))
}

// answer is what a node answered.
func answer(n observe.NodeOutcome, op driver.Op) string {
	text := n.Node + " " + n.Outcome.Of(op)
	if errors.Is(n.Err, driver.ErrWakeUp) {
		text += ", no wake-up"
	}
	return text
}
