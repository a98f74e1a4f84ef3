package sim

import (
	"errors"
	"time"
)

// Redis is a client's plain connection to a node, for lock protocols that are not the library. Do is called by a program
// of the client, which waits.
type Redis interface {
	// Node is the node's name.
	Node() string
	// Do sends a request and waits for the reply, at most until the client's lock clock reads deadline. key says what
	// the request is for; no other of the run may share it.
	Do(key Key, deadline time.Time, r Request) Reply
}

// Request is a command or a script.
type Request struct {
	// Args are a command's name and arguments, if Script is nil.
	Args []string
	// Script is called with Keys and Argv. It is sent by its hash, and in full to a node that does not know it.
	Script     *Script
	Keys, Argv []string
}

// Script is a Lua script, and the same in Go for the model tier.
type Script struct {
	Lua   string
	Model func(redis Calls, keys, argv []string) any
}

// Calls is redis.call: a command inside a script. Its result is as a Reply's Value.
type Calls func(args ...string) any

// Reply is what came of a Request.
type Reply struct {
	// Value is nil, an int64, a string, or a list of these as []any; only if Err is nil.
	Value any
	// Err matches ErrTimeout, ErrReset, or is a ServerError.
	Err error
}

// ErrTimeout: no reply before the deadline. The command may have been applied, or may still be.
var ErrTimeout = errors.New("no reply before the deadline")

// ServerError is an error reply.
type ServerError string

func (e ServerError) Error() string { return string(e) }

// Connections is a client's plain connections to all nodes, in their order.
func (w *World) Connections(client *Process) []Redis {
	if w.plain[client] == nil {
		for _, s := range w.Servers {
			w.plain[client] = append(w.plain[client], w.backend.Redis(client, s, w.Network.Link(client.name, s.name)))
		}
	}
	return w.plain[client]
}
