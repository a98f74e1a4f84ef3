//go:build unix

// Package heldport keeps loopback ports for servers that do not run: before they are started for the first time, and while they
// are down.
package heldport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"redlocksim/internal/redisproc"
)

// Port listens on the port of a server, so that no other process takes it. It refuses connections, as the machine of a stopped
// process does, or leaves them without an answer, as a machine without power does.
type Port struct {
	listener net.Listener
	mu       sync.Mutex
	released bool
	silent   []net.Conn
}

// Hold listens at an address, host:port, until the port is released.
func Hold(addr string, silently bool) (*Port, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the port of a server that is down: %w", err)
	}
	p := &Port{listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			if silently && !p.released {
				p.silent = append(p.silent, c)
			} else {
				redisproc.Reset(c)
			}
			p.mu.Unlock()
		}
	}()
	return p, nil
}

// Ports between these are free for servers: the system gives none of them to connections, as it does with those that it
// chooses itself. So a port is still free in the moment between its release and the start of its server.
const first, last = 10000, 32767

// Reserve holds a free port.
func Reserve() (p *Port, err error) {
	for range 100 {
		if p, err = Hold(fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(last-first+1)), false); err == nil {
			return p, nil
		}
	}
	return nil, err
}

// Addr is the address, host:port.
func (p *Port) Addr() string { return p.listener.Addr().String() }

// Release lets the port go, and returns when it is free, or after about a second. A process that is being started at that
// moment has the listener, too, until it has become another program: tens of milliseconds on a busy machine.
func (p *Port) Release() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.released = true
	for _, c := range p.silent {
		redisproc.Reset(c)
	}
	p.mu.Unlock()
	for range 1000 {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			return
		}
		redisproc.Reset(c)
		time.Sleep(time.Millisecond)
	}
}
