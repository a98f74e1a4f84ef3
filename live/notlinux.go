//go:build !linux

package live

import (
	"context"
	"errors"
	"io"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

var errLinux = errors.New("live: tier live runs on Linux only")

// Run fails: it needs Linux.
func Run(context.Context, *scenarios.Scenario, Options) (*verdict.Result, error) {
	return nil, errLinux
}

// Client fails: it needs Linux.
func Client(io.Reader, io.Writer) error { return errLinux }
