//go:build linux

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/client"
	programs "redlocksim/scenarios/programs/process"
	"redlocksim/sim/kernel"
)

// process is a client process, as its parent sees it.
type process struct {
	clocks  *faketime.Clocks // if faults touch them; nil: they are the machine's
	kind    kernel.ClockKind // which of them is its lock clock
	stopped bool             // paused or suspended
	running int              // programs that it has not finished

	name  string
	told  []client.Order // what one that is started in its place must be told
	child *programs.Process
	isUp  bool          // it has not crashed, though it may stand still
	began chan error    // what came of its beginning
	ended chan struct{} // closed when all its notices have been read
}

// nonsense is what the lock program of a client did that none may. It ends the run.
type nonsense struct{ client, what string }

func (n *nonsense) Error() string { return fmt.Sprintf("the lock program of %s: %s", n.client, n.what) }

// OfProgram is for verdict.EndedByProgram.
func (n *nonsense) OfProgram() {}

// startProcess starts a client process. Its notices go to noticed, and gone is called with why none that matters can come any
// more: it may have been killed already.
func startProcess(
	command []string, name string, begin client.Order, noticed func(*process, client.Notice), gone func(*process, error),
) (*process, error) {
	c := &process{name: name, told: []client.Order{begin}, isUp: true, began: make(chan error, 1), ended: make(chan struct{})}
	began := func(err error) {
		select {
		case c.began <- err:
		default: // it has begun, or never will
		}
	}
	over := func(why error) {
		began(why)
		gone(c, why)
	}
	var err error
	c.child, err = programs.StartOwn(command, func(line []byte) {
		var n client.Notice
		switch err := json.Unmarshal(line, &n); {
		case err != nil:
			over(fmt.Errorf("live: a notice of %s: %w", name, err))
		case n.Fatal != "":
			over(errors.New(n.Fatal))
		case n.Nonsense != "":
			over(&nonsense{name, n.Nonsense})
		case n.Ready:
			began(nil)
		default:
			noticed(c, n)
		}
	}, func(why string) {
		defer close(c.ended)
		over(fmt.Errorf("live: %s: %s", name, why))
	})
	if err != nil {
		return nil, fmt.Errorf("live: %s: %w", name, err)
	}
	c.send(begin)
	return c, nil
}

// send sends an order, which one that is gone does not read.
func (c *process) send(o client.Order) {
	line, _ := json.Marshal(o) // which has nothing that cannot be written
	c.child.Tell(line)
}

// ready waits until the client has begun.
func (c *process) ready(ctx context.Context) error {
	select {
	case err := <-c.began:
		return err
	case <-time.After(redisproc.Patience):
		return fmt.Errorf("live: %s did not begin within %v", c.name, redisproc.Patience)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// crash ends the process and its lock program, and returns the machine's time at which they did their last: what others notice
// of their death comes later.
func (c *process) crash() (last int64, err error) {
	if err := c.child.Stop(redisproc.Patience); err != nil {
		return 0, fmt.Errorf("live: %s: %w", c.name, err)
	}
	last = faketime.MachineTime()
	c.isUp = false
	c.child.Kill()
	return last, nil
}

// close ends the process, if there still is one, and waits until all its notices have been read.
func (c *process) close() {
	c.child.Close()
	<-c.ended
	if c.clocks != nil {
		_ = c.clocks.Close()
	}
}
