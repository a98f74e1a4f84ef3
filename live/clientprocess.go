//go:build linux

package live

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/sim/kernel"
)

const sigCont = syscall.SIGCONT

// clientProcess is a client process, as its parent sees it.
type clientProcess struct {
	name    string
	process *process // nil once it has crashed
	orders  *os.File
	encoder *json.Encoder
	clocks  *faketime.Clocks // if faults touch them; nil: they are the machine's
	kind    kernel.ClockKind // which of them is its lock clock
	ready   chan error       // what came of its beginning
	running int              // programs that it has not finished
	stopped bool             // paused or suspended

	// In a soak:
	rested bool      // its clients are at rest
	taking int       // how many locks it is about to take
	left   *leftover // what was left when it had closed everything

	ended chan struct{}
}

// startClient starts a client process.
func (r *testbed) startClient(name string, begin order) (*clientProcess, error) {
	theirIn, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	notices, theirOut, err := os.Pipe()
	if err != nil {
		_ = errors.Join(theirIn.Close(), orders.Close())
		return nil, err
	}
	cmd := exec.Command(r.command[0], r.command[1:]...)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	c := &clientProcess{name: name, orders: orders, encoder: json.NewEncoder(orders),
		ready: make(chan error, 1), ended: make(chan struct{})}
	p, err := child.Start(inOwnGroup(cmd))
	_ = errors.Join(theirIn.Close(), theirOut.Close())
	if err != nil {
		_ = errors.Join(orders.Close(), notices.Close())
		return nil, fmt.Errorf("live: %s: %w", name, err)
	}
	c.process = &process{p}
	go c.listen(r, c.process, notices)
	c.send(begin)
	return c, nil
}

// send sends an order. If the process is gone, listen notices.
func (c *clientProcess) send(o order) { _ = c.encoder.Encode(o) }

// listen reads the notices until the process is gone; it may have been killed already.
func (c *clientProcess) listen(r *testbed, p *process, notices *os.File) {
	defer close(c.ended)
	defer notices.Close()
	isReady := false
	fail := func(err error) {
		if !isReady {
			c.ready <- err
		}
		r.post(func() {
			if c.process != nil { // we did not end it
				r.failed = err
			}
		})
	}
	lines := bufio.NewReader(notices)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			<-p.Exited()
			fail(fmt.Errorf("live: %s is gone: %s\n%s", c.name, p.Status(), p.Output()))
			return
		}
		var n notice
		if err := json.Unmarshal(line, &n); err != nil {
			fail(fmt.Errorf("live: a notice of %s: %w", c.name, err))
			return
		}
		switch {
		case n.Ready:
			isReady = true
			c.ready <- nil
		case n.Fatal != "":
			fail(errors.New(n.Fatal))
			return
		default:
			r.post(func() { r.noticed(c, n) })
		}
	}
}

// noticed acts on a notice of a client.
func (r *testbed) noticed(c *clientProcess, n notice) {
	switch {
	case n.Event != nil:
		r.happened(n.At, *n.Event)
		if n.Wait > 0 && c.process != nil {
			c.send(order{Go: n.Wait})
		}
	case n.Belief != nil:
		r.take(entry{at: n.At, process: cmp.Or(n.Belief.Process, c.name), belief: n.Belief})
	case n.Done > 0 && c.process != nil:
		c.running--
	case n.Rested:
		c.rested = true
	case n.Taken != "":
		c.taking--
	case n.Left != nil:
		c.left = n.Left
	}
}

// crash ends the process for good.
func (c *clientProcess) crash() {
	c.process.Kill()
	c.process, c.running = nil, 0
}

// close ends the process, if there still is one, and waits until all its notices have been read.
func (c *clientProcess) close() {
	if c.process != nil {
		c.process.Kill()
	}
	_ = c.orders.Close()
	<-c.ended
	if c.clocks != nil {
		_ = c.clocks.Close()
	}
}
