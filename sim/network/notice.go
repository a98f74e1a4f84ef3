package network

// Notice is a message that nobody answers: one of a client, which is Served where it arrives, or one that a server pushes,
// which is Received there. A function that is nil does nothing.
type Notice struct {
	Exchange
	What     string // it is for
	Served   func()
	Received func()
	IsLost   func()
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// Purpose implements Purposeful.
func (n *Notice) Purpose() string { return n.What }

// Serve has the server take it.
func (n *Notice) Serve() { call(n.Served) }

// Answered implements Client.
func (n *Notice) Answered() { call(n.Received) }

// Broken implements Client.
func (*Notice) Broken() {}
