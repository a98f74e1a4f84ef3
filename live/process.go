//go:build linux

package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/client"
	"redlocksim/sim/kernel"
)

// process is a client process, as its parent sees it.
type process struct {
	clocks  *faketime.Clocks // if faults touch them; nil: they are the machine's
	kind    kernel.ClockKind // which of them is its lock clock
	stopped bool             // paused or suspended
	running int              // programs that it has not finished

	name    string
	told    []client.Order // what one that is started in its place must be told
	child   *child.Process // nil once it has crashed
	orders  *os.File
	encoder *json.Encoder
	began   chan error    // what came of its beginning
	ended   chan struct{} // closed when all its notices have been read
}

// nonsense is what the lock program of a client did that none may. It ends the run.
type nonsense struct{ client, what string }

func (n *nonsense) Error() string { return fmt.Sprintf("the lock program of %s: %s", n.client, n.what) }

// OfProgram is for scenarios.EndedByProgram.
func (n *nonsense) OfProgram() {}

// startProcess starts a client process. Its notices go to noticed, and gone is called when none can come any more: it
// may have been killed already.
func startProcess(
	command []string, name string, begin client.Order, noticed func(*process, client.Notice), gone func(*process, error),
) (*process, error) {
	theirIn, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	notices, theirOut, err := os.Pipe()
	if err != nil {
		_ = errors.Join(theirIn.Close(), orders.Close())
		return nil, err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	c := &process{name: name, told: []client.Order{begin}, orders: orders, encoder: json.NewEncoder(orders),
		began: make(chan error, 1), ended: make(chan struct{})}
	p, err := child.Start(child.InOwnGroup(cmd))
	_ = errors.Join(theirIn.Close(), theirOut.Close())
	if err != nil {
		_ = errors.Join(orders.Close(), notices.Close())
		return nil, fmt.Errorf("live: %s: %w", name, err)
	}
	c.child = p
	go func() {
		defer close(c.ended)
		defer notices.Close()
		why := listen(name, p, notices, func(n client.Notice) {
			if n.Ready {
				c.began <- nil
				return
			}
			noticed(c, n)
		})
		select {
		case c.began <- why:
		default: // it had begun
		}
		gone(c, why)
	}()
	c.send(begin)
	return c, nil
}

// listen reads the notices until the process is gone, and returns why.
func listen(name string, p *child.Process, notices *os.File, noticed func(client.Notice)) error {
	lines := bufio.NewReader(notices)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			<-p.Exited()
			return fmt.Errorf("live: %s is gone: %s\n%s", name, p.Status(), p.Output())
		}
		var n client.Notice
		if err := json.Unmarshal(line, &n); err != nil {
			return fmt.Errorf("live: a notice of %s: %w", name, err)
		}
		switch {
		case n.Fatal != "":
			return errors.New(n.Fatal)
		case n.Nonsense != "":
			return &nonsense{name, n.Nonsense}
		}
		noticed(n)
	}
}

// isUp reports that the process has not crashed, though it may stand still.
func (c *process) isUp() bool { return c.child != nil }

// send sends an order. If the process is gone, listen notices.
func (c *process) send(o client.Order) { _ = c.encoder.Encode(o) }

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
	c.child.Kill()
	c.child = nil
	return last, nil
}

// close ends the process, if there still is one, and waits until all its notices have been read.
func (c *process) close() {
	if c.child != nil {
		c.child.Kill()
	}
	_ = c.orders.Close()
	<-c.ended
	if c.clocks != nil {
		_ = c.clocks.Close()
	}
}
