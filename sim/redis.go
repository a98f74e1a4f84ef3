package sim

import (
	"redlocksim/internal/rediscmd"
	"time"
)

// Redis is a client's plain connection to a node, for lock protocols that are not the library. Do is called by a program
// of the client, which waits.
type Redis interface {
	// Node is the node's name.
	Node() string
	// Do sends a request and waits for the reply, at most until the client's lock clock reads deadline. key says what
	// the request is for; no other of the run may share it.
	Do(key Key, deadline time.Time, r rediscmd.Request) rediscmd.Reply
}

// Connections is a client's plain connections to all nodes, in their order.
func (w *World) Connections(client *Process) []Redis {
	if w.plain[client] == nil {
		for _, s := range w.Servers {
			w.plain[client] = append(w.plain[client], w.backend.Redis(client, s, w.Network.Link(client.name, s.name)))
		}
	}
	return w.plain[client]
}
