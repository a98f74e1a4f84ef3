//go:build !linux

package soak

import (
	"context"
	"errors"
)

// Run fails: it needs Linux.
func Run(context.Context, Options, func(*Result)) (*Result, error) {
	return nil, errors.New("live: tier live runs on Linux only")
}
