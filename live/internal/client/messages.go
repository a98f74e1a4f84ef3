package client

import "redlocksim/sim/history"

// A client process and its parent exchange lines of JSON: orders one way, and notices the other.

// Order is a line from the parent to a client process.
type Order struct {
	// Begin is the first line to the client of a scenario: what it is.
	Begin *Role `json:"begin,omitempty"`
	// Run starts an item of the timeline: its index plus one.
	Run int `json:"run,omitempty"`
	// Go lets the program continue that waits after the notice of this number.
	Go int `json:"go,omitempty"`
	// Promoted is who is in a node's place from now on.
	Promoted *Promoted `json:"promoted,omitempty"`
	// Stuck: the client's work never ends from now on.
	Stuck bool `json:"stuck,omitempty"`
}

// Promoted is a node and the replica that was promoted in its place, by their names.
type Promoted struct {
	Node string `json:"node"`
	By   string `json:"by"`
}

// Role is what a client process is told of itself.
type Role struct {
	Name     string   `json:"name"`
	Index    int      `json:"index"` // among Clients
	Clients  int      `json:"clients"`
	Scenario string   `json:"scenario"` // as a file
	Speed    int      `json:"speed"`
	Nodes    []string `json:"nodes"`   // the addresses of its proxies to the nodes, in the scenario's order
	Storage  string   `json:"storage"` // and of that to the storage
	// Restarts is how often it crashed and was started again before.
	Restarts int `json:"restarts,omitempty"`
	// Clocks is the file of its clocks, if faults may touch them; empty if they are the machine's.
	Clocks string `json:"clocks,omitempty"`
	// Lock is the command of the program that is its lock, in the place of the scenario's protocol; empty if there is none.
	Lock []string `json:"lock,omitempty"`
	// IsRedis says that the nodes are Redis nodes, to which the client connects itself; a lock program may have others.
	IsRedis bool `json:"isRedis,omitempty"`
	// OneNode says that the program is a lock on one node, the first that it is given.
	OneNode bool `json:"oneNode,omitempty"`
}

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
