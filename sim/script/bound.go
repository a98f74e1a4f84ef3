package script

import (
	"context"
	"fmt"

	"redlocksim/sim/redis"
)

// The bound of a script, in instructions of gopher-lua, and as how many of these a command counts. The scripts of locks take
// some hundred.
const (
	maxInstructions = 10_000_000
	perCommand      = 100
)

// bound is a context that ends after so many instructions: gopher-lua asks for Done before each. A pcall in the script catches
// the error no more than once, as the next instruction raises it again.
type bound struct {
	context.Context
	left int
}

var ended = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done implements context.Context.
func (b *bound) Done() <-chan struct{} {
	if b.left--; b.left < 0 {
		return ended
	}
	return nil
}

// Err implements context.Context.
func (b *bound) Err() error {
	if b.left >= 0 {
		return nil
	}
	return &redis.Nonsense{What: fmt.Sprintf("the script does not end: it has made %d steps", maxInstructions)}
}
