//go:build unix

package adaptertest

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
)

// Rounds records what a node sends: one line a round trip, "set | evalsha | eval".
type Rounds struct {
	mu   sync.Mutex
	sent []string
}

// Dial connects to a server, over a connection that is listened in to.
func (r *Rounds) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &overheard{c.(*net.TCPConn), r}, nil
}

// Take gives what was sent since it was last called.
func (r *Rounds) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent := r.sent
	r.sent = nil
	return sent
}

// overheard has all methods of a TCP connection: by one of them go-redis sees whether it is still there.
type overheard struct {
	*net.TCPConn
	by *Rounds
}

// Write notes the commands, but those by which a client library makes a connection or looks after it.
func (o *overheard) Write(data []byte) (int, error) {
	var names []string
	for r := bufio.NewReader(bytes.NewReader(data)); ; {
		words, err := readCommand(r)
		if err != nil {
			break
		}
		if name := strings.ToLower(words[0]); name != "hello" && name != "ping" {
			names = append(names, name)
		}
	}
	if names != nil {
		o.by.mu.Lock()
		o.by.sent = append(o.by.sent, strings.Join(names, " | "))
		o.by.mu.Unlock()
	}
	return o.TCPConn.Write(data)
}
