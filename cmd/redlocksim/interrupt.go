package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// untilInterrupted is a context that ends with the command's, or when the user wants it to.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// interrupted is how a command ends that the user stopped.
func interrupted() error { return &failure{exitUsage, errors.New("interrupted")} }

// errInterrupted ends a command that runs processes of its own.
var errInterrupted = errors.New("interrupted: no processes or files were left behind")
