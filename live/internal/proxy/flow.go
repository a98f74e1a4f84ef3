//go:build linux

package proxy

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"redlocksim/internal/faketime"
)

// Flow is one direction of a link, and what is wrong with it.
type Flow struct {
	mu sync.Mutex
	Impairment
	changed chan struct{} // closed when the impairment changes, and replaced
	met     bool          // something came into it, or was in it, that an impairment was in the way of
	came    []int64       // CLOCK_MONOTONIC when something came into it
}

// Impairment is what is wrong with one direction of a link. The zero value is nothing.
type Impairment struct {
	Lost   int           // how many faults lose its messages
	Held   int           // how many hold them back
	Delay  time.Duration // added to each of them
	Resets int           // how often its connections were reset
}

func (i *Impairment) isInTheWay() bool { return i.Lost > 0 || i.Held > 0 || i.Delay > 0 }

func newFlow() *Flow { return &Flow{changed: make(chan struct{})} }

// State is what is wrong now, and a channel that is closed when it changes.
func (f *Flow) State() (Impairment, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Impairment, f.changed
}

// Met says whether an impairment was in the way of anything until now.
func (f *Flow) Met() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met
}

// Change changes what is wrong.
func (f *Flow) Change(change func(*Impairment)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.Impairment)
	close(f.changed)
	f.changed = make(chan struct{})
}

// Came is when something came into the flow, from one reading of CLOCK_MONOTONIC to another, both included. What is sent
// together, as a pipeline is, counts once.
func (f *Flow) Came(from, to int64) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, _ := slices.BinarySearch(f.came, from)
	end, _ := slices.BinarySearch(f.came, to+1)
	return slices.Clone(f.came[first:max(first, end)])
}

// pipe is one direction of one connection.
type pipe struct {
	flow   *Flow
	queue  []message
	resets int  // of the flow, when this connection was opened
	gap    bool // something was lost, so that what follows would make no sense
}

// message is what was read at once, and when it is due.
type message struct {
	data []byte
	due  time.Time
}

func (f *Flow) newPipe() *pipe {
	now, _ := f.State()
	return &pipe{flow: f, resets: now.Resets}
}

// run passes messages on until the connection ends, or the network is over.
func (p *pipe) run(over <-chan struct{}, from io.Reader, to io.Writer) {
	ended := make(chan struct{})
	defer close(ended)
	for input := read(from, ended); ; {
		now, changed := p.look()
		if now.Resets != p.resets || p.gap && now.Lost == 0 {
			return
		}
		var due <-chan time.Time
		if now.Lost == 0 && now.Held == 0 {
			for len(p.queue) > 0 && !time.Now().Before(p.queue[0].due) {
				if _, err := to.Write(p.queue[0].data); err != nil {
					return
				}
				p.queue = p.queue[1:]
			}
			if len(p.queue) > 0 {
				due = time.After(time.Until(p.queue[0].due))
			} else if input == nil {
				return
			}
		}
		select {
		case data, isOpen := <-input:
			switch {
			case !isOpen: // a peer that is cut off does not notice
				input = nil
			case len(p.queue) == 0 && isHandshake(data):
				if _, err := to.Write(data); err != nil {
					return
				}
			default:
				p.take(data)
			}
		case <-changed:
		case <-due:
		case <-over:
			return
		}
	}
}

// read reads what comes, until that is over or ended is closed.
func read(from io.Reader, ended <-chan struct{}) <-chan []byte {
	input := make(chan []byte)
	go func() {
		defer close(input)
		for buffer := make([]byte, 32<<10); ; {
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case input <- bytes.Clone(buffer[:n]):
				case <-ended:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return input
}

// look says what is wrong now, and loses what is in the pipe if that is.
func (p *pipe) look() (Impairment, <-chan struct{}) {
	f := p.flow
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p.queue) > 0 && f.isInTheWay() || f.Resets != p.resets {
		f.met = true
	}
	if f.Lost > 0 && len(p.queue) > 0 {
		p.queue, p.gap = nil, true
	}
	return f.Impairment, f.changed
}

// take takes what comes into the flow.
func (p *pipe) take(data []byte) {
	f := p.flow
	f.mu.Lock()
	defer f.mu.Unlock()
	f.came = append(f.came, faketime.MachineTime())
	if f.isInTheWay() {
		f.met = true
	}
	if f.Lost > 0 {
		p.gap = true
	} else {
		p.queue = append(p.queue, message{data, time.Now().Add(f.Delay)})
	}
}

// isHandshake recognizes the answer to HELLO: a list of 14 that begins with the server's name. It is never impaired. Connecting
// costs nothing in the scenarios, and a client that had to shake hands through a fault could not send the request that the
// fault is meant for.
func isHandshake(data []byte) bool { return bytes.HasPrefix(data, []byte("*14\r\n$6\r\nserver\r\n")) }
