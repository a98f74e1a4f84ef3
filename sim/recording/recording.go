// Package recording is what a history leaves out of a run, for pictures of it: messages, keys on nodes, and the state of
// processes, clocks and links, all in true time.
package recording

import (
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Recording is what a history leaves out. Nothing in a run depends on it, and neither hash covers it. Unlike a history it
// belongs to one tier.
type Recording struct {
	// Messages are in the order in which they were sent.
	Messages []Message
	// Kept are the keys on nodes, in the order in which they came to be there.
	Kept []Kept
	// States are those of all processes, in the order in which they began. Each process has one at the start.
	States []State
	// Obstacles are what faults put in the way of messages, in the order in which that began.
	Obstacles []Obstacle
}

// Message is one message between two processes.
type Message struct {
	Kind     network.MessageKind
	From, To string
	// Purpose says what the exchange is for: an operation of the library, a Redis command, what is done to the storage.
	// Empty if nobody knows.
	Purpose string
	// Exchange numbers the exchanges from 1; a request and its reply share it.
	Exchange int
	// Sent is when it was sent, and Ended when its Fate was settled; Forever for a message that is UnderWay.
	Sent, Ended kernel.True
	Fate        network.Fate
	// Why says what a lost message was lost to, and how much arrived of one that arrived in part; empty for the others.
	Why string
}

// Kept is a key on a node for a stretch in which its value, its deadline and the node's clock stay as they are.
type Kept struct {
	Node, Key, Value string
	// Owner is the process whose request gave the key this value; for what came from a disk or a master, who gave it there.
	Owner string
	// From and To are when the stretch began and ended, To Forever if it did not.
	From, To kernel.True
	// Left is how long the key has to live at From by the node's wall clock, which runs Rate parts per billion fast; zero
	// for a key without a time to live.
	Left time.Duration
	Rate int64
	// Copy: the node was a replica, whose keys nobody asks for.
	Copy bool
}

// Condition is what a process can do.
type Condition uint8

// The conditions; Running is the zero value. The process of a node that is Down is gone and its machine refuses
// connections; nobody answers for one that is Off.
const (
	Running Condition = iota
	Paused
	Suspended
	Crashed
	Down
	Off
)

// State is the condition and the clocks of a process from At on, until its next.
type State struct {
	Process string
	At      kernel.True
	Condition
	// Wall and Mono are by how much its wall clock and its monotonic clock are ahead of true time at At. Both run Rate parts
	// per billion fast; the monotonic clock of a suspended process stands still.
	Wall, Mono time.Duration
	Rate       int64
}

// ObstacleKind is what an Obstacle does to messages.
type ObstacleKind uint8

const (
	// Cut loses them; the zero value.
	Cut ObstacleKind = iota
	// Held keeps them back.
	Held
	// Delayed makes them slower.
	Delayed
)

// Obstacle is what faults do to the messages of a link in one direction.
type Obstacle struct {
	Kind ObstacleKind
	// Client and Server are the ends of the link; between nodes, the Client is the one that sends requests.
	Client, Server string
	// Direction is Requests or Replies.
	Direction network.Direction
	// From and To are when it began and ended, To Forever if it did not.
	From, To kernel.True
	// By is the delay that is added; zero for other kinds.
	By time.Duration
}
