package live

import (
	"time"

	"redlocksim/history"
)

// order is a line from the parent to a client process.
type order struct {
	// Begin is the first line to the client of a scenario: what it is.
	Begin *role `json:"begin,omitempty"`
	// Run starts an item of the timeline: its index plus one.
	Run int `json:"run,omitempty"`
	// Go lets the program continue that waits after the notice of this number.
	Go int `json:"go,omitempty"`
	// ClocksChanged: the client's clocks have just been changed.
	ClocksChanged bool `json:"clocksChanged,omitempty"`
	// Serving is who serves in a node's place from now on.
	Serving *serving `json:"serving,omitempty"`
	// Stuck: the client's work never ends from now on.
	Stuck bool `json:"stuck,omitempty"`

	// Soak is the first line to a process of a soak: what it is. It begins to work at once.
	Soak *soakRole `json:"soak,omitempty"`
	// Rest stops its clients when they have finished what they are doing; Work starts them again.
	Rest bool `json:"rest,omitempty"`
	Work bool `json:"work,omitempty"`
	// Take has it acquire and release the lock of this name, within Within.
	Take   string        `json:"take,omitempty"`
	Within time.Duration `json:"within,omitempty"`
	// Leave has it close everything and report what is left.
	Leave bool `json:"leave,omitempty"`
}

// serving is a node and the replica that was promoted in its place, by their names.
type serving struct {
	Node string `json:"node"`
	By   string `json:"by"`
}

// role is what a client process is told of itself.
type role struct {
	Name     string   `json:"name"`
	Index    int      `json:"index"` // among Clients
	Clients  int      `json:"clients"`
	Scenario string   `json:"scenario"` // as a file
	Speed    int      `json:"speed"`
	Nodes    []string `json:"nodes"`   // the addresses of its proxies to the nodes, in the scenario's order
	Storage  string   `json:"storage"` // and of that to the storage
	// Clocks is the file of its clocks, if faults may touch them; empty if they are the machine's.
	Clocks string `json:"clocks,omitempty"`
}

// notice is a line from a client process to its parent: one of its fields, but for At and Wait.
type notice struct {
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
	Belief *belief `json:"belief,omitempty"`
	// Done is the index, plus one, of an item of the timeline that the client has finished.
	Done int `json:"done,omitempty"`
	// Rested: all clients of a process of a soak rest. Taken is the lock that it was told to Take.
	Rested bool   `json:"rested,omitempty"`
	Taken  string `json:"taken,omitempty"`
	// Left is what a process of a soak has left after it has closed everything.
	Left *leftover `json:"left,omitempty"`
	// Fatal is why the client cannot go on.
	Fatal string `json:"fatal,omitempty"`
}

// belief says that the client believes in the lock of a grant until its lock clock, which reads CLOCK_MONOTONIC unless the
// parent has changed it, reads Until. A zero Until ends it by the client's own decision: it releases.
type belief struct {
	Grant int   `json:"grant"`
	Until int64 `json:"until"`
	// Process and Resource are of the client and the lock; an empty Process is that of the notice.
	Process  string `json:"process,omitempty"`
	Resource string `json:"resource"`
}
