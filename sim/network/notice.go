package network

// Notice is a message that nobody answers: one of a client, which is Arrived where it is going, or one that a server pushes,
// which is Received there. That of a client may be Answered all the same, or its connection be Broken. A function that is nil
// does nothing.
type Notice struct {
	Exchange
	What     string // it is for
	Arrived  func()
	Received func()
	Broke    func()
	IsLost   func()
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// Purpose implements Purposeful.
func (n *Notice) Purpose() string { return n.What }

// Arrive has the server take it.
func (n *Notice) Arrive() { call(n.Arrived) }

// Answered implements Client.
func (n *Notice) Answered() { call(n.Received) }

// Broken implements Client.
func (n *Notice) Broken() { call(n.Broke) }
