package messages

import "redlocksim/sim/history"

// Notice is a line from a client process to its parent: one of its fields, but for At and Wait.
type Notice struct {
	// At is CLOCK_MONOTONIC when it happened, in nanoseconds.
	At int64 `json:"at"`
	// Wait, if not 0, asks for an order to Go; the program waits for it.
	Wait int `json:"wait,omitempty"`
	// Ready: the client has its connections.
	Ready bool `json:"ready,omitempty"`
	// Event is an event of the history. Its Time is not set; its Op and Grant are numbers of this run; its Span is in the
	// scenario's time.
	Event *history.Event `json:"event,omitempty"`
	// Belief is until when the client believes in a lock.
	Belief *Belief `json:"belief,omitempty"`
	// Done is the index, plus one, of an item of the timeline that the client has finished.
	Done int `json:"done,omitempty"`
	// Fatal is why the client cannot go on.
	Fatal string `json:"fatal,omitempty"`
	// Nonsense is what the client's lock program has done that none may.
	Nonsense string `json:"nonsense,omitempty"`
}

// Belief says that the client believes in the lock of a grant until its lock clock, which reads CLOCK_MONOTONIC unless the
// parent has changed it, reads Until. A zero Until ends it by the client's own decision: it releases.
type Belief struct {
	Grant int   `json:"grant"`
	Until int64 `json:"until"`
	// Resource is of the lock.
	Resource string `json:"resource"`
}
