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

	name       string
	errScripts error // ErrCommands of a server that forbids scripts
}

// NewAdapter is an adapter with the name of its package.
func NewAdapter(name string) *Adapter {
	commands := errors.New(name + ": " + batch.Needed)
	return &Adapter{ErrCommands: commands, name: name, errScripts: fmt.Errorf("%w; %s", commands, batch.Instead)}
}

// forbidden is the reply of a server that forbids what a lock needs, as an error says.
func (of *Adapter) forbidden(err error) driver.Reply {
	forbids := of.ErrCommands
	if isScriptForbidden(err) {
		forbids = of.errScripts
	}
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("%w: %w", forbids, err)}
}
