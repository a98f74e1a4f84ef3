package redisnode

import (
	"errors"
	"fmt"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Adapter is by what name the errors of an adapter's servers begin.
type Adapter struct {
	// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server
	// does not vote: it would keep locks that cannot be extended or released.
	ErrCommands error

	name string
}

// NewAdapter is an adapter with the name of its package.
func NewAdapter(name string) *Adapter {
	return &Adapter{ErrCommands: errors.New(name + ": " + batch.Needed), name: name}
}

// forbidden is the reply of a server that forbids what a lock needs, as an error says.
func (of *Adapter) forbidden(err error) driver.Reply {
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", of.ErrCommands, err)}
}
