//go:build linux

package server

import (
	"fmt"
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

// close lets the port go.
func (k *placeholder) close() {
	if k == nil {
		return
	}
	_ = k.listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, c := range k.silent {
		redisproc.Reset(c)
	}
}
