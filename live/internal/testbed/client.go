//go:build linux

package testbed

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
	"redlocksim/live/internal/messages"
	"redlocksim/sim/kernel"
)

// Client is a client process, as its parent sees it.
type Client struct {
	Clocks  *faketime.Clocks // if faults touch them; nil: they are the machine's
	Kind    kernel.ClockKind // which of them is its lock clock
	Stopped bool             // paused or suspended

	name    string
	told    []messages.Order // what one that is started in its place must be told
	process *child.Process   // nil once it has crashed
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

// startClient starts a client process. Its notices go to noticed, and gone is called when none can come any more: it
// may have been killed already.
func startClient(
	command []string, name string, begin messages.Order, noticed func(*Client, messages.Notice), gone func(*Client, error),
) (*Client, error) {
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
	c := &Client{name: name, told: []messages.Order{begin}, orders: orders, encoder: json.NewEncoder(orders),
		began: make(chan error, 1), ended: make(chan struct{})}
	p, err := child.Start(child.InOwnGroup(cmd))
	_ = errors.Join(theirIn.Close(), theirOut.Close())
	if err != nil {
		_ = errors.Join(orders.Close(), notices.Close())
		return nil, fmt.Errorf("live: %s: %w", name, err)
	}
	c.process = p
	go func() {
		defer close(c.ended)
		defer notices.Close()
		gone(c, c.listen(p, notices, noticed))
	}()
	c.Send(begin)
	return c, nil
}

// IsUp reports that the process has not crashed, though it may stand still.
func (c *Client) IsUp() bool { return c.process != nil }

// Send sends an order. If the process is gone, listen notices.
func (c *Client) Send(o messages.Order) { _ = c.encoder.Encode(o) }

// Ready waits until the client has begun.
func (c *Client) Ready(ctx context.Context) error {
	select {
	case err := <-c.began:
		return err
	case <-time.After(redisproc.Patience):
		return fmt.Errorf("live: %s did not begin within %v", c.name, redisproc.Patience)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// listen reads the notices until the process is gone, and returns why.
func (c *Client) listen(p *child.Process, notices *os.File, noticed func(*Client, messages.Notice)) (err error) {
	isReady := false
	defer func() {
		if !isReady {
			c.began <- err
		}
	}()
	lines := bufio.NewReader(notices)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			<-p.Exited()
			return fmt.Errorf("live: %s is gone: %s\n%s", c.name, p.Status(), p.Output())
		}
		var n messages.Notice
		if err := json.Unmarshal(line, &n); err != nil {
			return fmt.Errorf("live: a notice of %s: %w", c.name, err)
		}
		switch {
		case n.Ready:
			isReady = true
			c.began <- nil
		case n.Fatal != "":
			return errors.New(n.Fatal)
		case n.Nonsense != "":
			return &nonsense{c.name, n.Nonsense}
		default:
			noticed(c, n)
		}
	}
}

// Crash ends the process and its lock program, and returns the machine's time at which they did their last: what others notice
// of their death comes later.
func (c *Client) Crash() (last int64, err error) {
	if err := c.process.Stop(redisproc.Patience); err != nil {
		return 0, fmt.Errorf("live: %s: %w", c.name, err)
	}
	last = faketime.MachineTime()
	c.process.Kill()
	c.process = nil
	return last, nil
}

// close ends the process, if there still is one, and waits until all its notices have been read.
func (c *Client) close() {
	if c.process != nil {
		c.process.Kill()
	}
	_ = c.orders.Close()
	<-c.ended
	if c.Clocks != nil {
		_ = c.Clocks.Close()
	}
}
