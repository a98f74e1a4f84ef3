// Package rediscmd is the vocabulary in which lock protocols that are not the library talk to a Redis node, simulated or
// real: requests, scripts, replies and the errors that tell what is known of a command that was not answered.
package rediscmd

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Request is a command or a script.
type Request struct {
	// Args are a command's name and arguments, if Script is nil.
	Args []string
	// Script is called with Keys and Argv. It is sent by its hash, and in full to a node that does not know it.
	Script     *Script
	Keys, Argv []string
}

// Script is a script.
type Script struct{ Lua string }

// Reply is what came of a Request.
type Reply struct {
	// Value is nil, an int64, a string, or a list of these as []any; only if Err is nil.
	Value any
	// Err matches ErrTimeout, ErrReset, or is a ServerError.
	Err error
}

// ErrTimeout: no reply before the deadline. The command may have been applied, or may still be.
var ErrTimeout = errors.New("no reply before the deadline")

// ErrReset: the connection was refused or reset. It reads as on a socket, since its text can get into a history.
var ErrReset error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", resetByPeer{})}

// resetByPeer is syscall.ECONNRESET with the same text on every system: errors stand in histories, which have hashes.
type resetByPeer struct{}

func (resetByPeer) Error() string { return "connection reset by peer" }
func (resetByPeer) Unwrap() error { return syscall.ECONNRESET }

// ServerError is an error reply.
type ServerError string

func (e ServerError) Error() string { return string(e) }

// Status is a simple string, as OK is.
type Status string
