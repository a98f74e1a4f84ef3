package network

import "redlocksim/sim/kernel"

// Connection is for a client that speaks to a server in bytes: of all exchanges on it, the messages of each direction arrive in
// the order in which they were sent, and behind one that is lost nothing arrives any more. Other exchanges of the link overtake
// them.
//
// It is an exchange itself, which is never answered and stays open as long as the connection does: its request asks for the
// connection, and that it breaks is told to its client.
type Connection struct {
	Exchange
	lanes [2]ordered // requests and replies
}

// ordered is one direction of a connection.
type ordered struct {
	latest  kernel.True // when the last message arrives
	stalled bool        // a message was lost
}

// lostBehind is what a message of a connection is lost to behind another that was lost.
const lostBehind = "an earlier message of its connection was lost"

// IsOpen says whether the client has not given the connection up, and was not told that it is broken.
func (c *Connection) IsOpen() bool { return c.isOpen }

// behind is when a message arrives that would arrive at a time if nothing went before it. What tells that the connection is
// broken waits for nothing.
func (c *Connection) behind(kind MessageKind, at kernel.True) kernel.True {
	if kind == RefusalMessage {
		return at
	}
	w := &c.lanes[kind.lane()]
	w.latest = max(w.latest, at)
	return w.latest
}

// stalls has nothing of a direction arrive any more.
func (c *Connection) stalls(kind MessageKind) {
	if kind != RefusalMessage {
		c.lanes[kind.lane()].stalled = true
	}
}

// isStalled says whether a message of the kind cannot arrive.
func (c *Connection) isStalled(kind MessageKind) bool {
	return kind != RefusalMessage && c.lanes[kind.lane()].stalled
}
