//go:build linux

package server

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"

	"redlocksim/internal/redisproc"
)

// placeholder listens on the port of a server that is down, so that no other process takes it. It refuses connections, as the
// machine of a stopped process does, or leaves them without an answer, as a machine without power does.
type placeholder struct {
	listener net.Listener
	mu       sync.Mutex
	closed   bool
	silent   []net.Conn
}

func holdPort(addr string, silently bool) (*placeholder, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("live: the port of a server that is down: %w", err)
	}
	k := &placeholder{listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			k.mu.Lock()
			if silently && !k.closed {
				k.silent = append(k.silent, c)
			} else {
				redisproc.Reset(c)
			}
			k.mu.Unlock()
		}
	}()
	return k, nil
}

// Ports between these are free for servers: the system gives none of them to connections, as it does with those that it
// chooses itself. So a port is still free in the moment between its placeholder and its server.
const firstPort, lastPort = 10000, 32767

// reservePort has a placeholder on a free port, until the server is started for the first time.
func (s *Server) reservePort() (addr string, err error) {
	for range 100 {
		addr = fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort+1))
		var p *placeholder
		if p, err = holdPort(addr, false); err == nil {
			s.placeholders = append(s.placeholders, p)
			return addr, nil
		}
	}
	return "", err
}

// close lets the port go.
func (k *placeholder) close() {
	_ = k.listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, c := range k.silent {
		redisproc.Reset(c)
	}
}
