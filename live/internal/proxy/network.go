//go:build linux

// Package proxy is the links between clients and nodes: proxies that lose, hold back, delay and reset what they pass on.
package proxy

import (
	"bufio"
	"io"
	"net"
	"sync"
)

// Network carries connections over links. It must be closed.
type Network struct {
	all  sync.WaitGroup
	over chan struct{} // closed when the network is

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[net.Conn]bool // nil once the network is closed
}

// New makes a network without links.
func New() *Network { return &Network{over: make(chan struct{}), conns: map[net.Conn]bool{}} }

// Close ends all links and their connections.
func (n *Network) Close() {
	n.mu.Lock()
	close(n.over)
	for _, l := range n.listeners {
		_ = l.Close()
	}
	for c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
	n.mu.Unlock()
	n.all.Wait()
}

// Link makes the link from a client to a node at the address upstream.
func (n *Network) Link(client, node, upstream string) (*Link, error) {
	l := &Link{Client: client, Node: node, upstream: upstream, Up: newFlow(), Down: newFlow()}
	var err error
	l.Addr, err = n.listen(func(*bufio.Reader) (*Link, string, string, error) {
		on := l.leads()
		return on, on.upstream, "", nil
	})
	return l, err
}

// listen carries what connects to the address that it returns. lead says over which link, to which address, and what the client
// is told once it is connected.
func (n *Network) listen(lead func(from *bufio.Reader) (on *Link, upstream, yes string, err error)) (addr string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	n.listeners = append(n.listeners, listener)
	n.all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			n.all.Go(func() {
				defer n.end(c)
				if !n.keep(c) {
					return
				}
				from := bufio.NewReader(c)
				if on, upstream, yes, err := lead(from); err == nil {
					n.carry(c, from, on, upstream, yes)
				}
			})
		}
	})
	return listener.Addr().String(), nil
}

// carry passes on what a connection sends to a server, which it connects to, and what that answers. Who connects to a server
// that is down is refused, unless what it sends is lost.
func (n *Network) carry(client net.Conn, from *bufio.Reader, on *Link, upstream, yes string) {
	up, down := on.Up.newPipe(), on.Down.newPipe()
	server, err := net.Dial("tcp", upstream)
	for err != nil {
		now, changed := on.Up.State()
		if now.Lost == 0 {
			return
		}
		select {
		case <-changed:
		case <-n.over:
			return
		}
	}
	defer n.end(server)
	if !n.keep(server) {
		return
	}
	if _, err := io.WriteString(client, yes); err != nil {
		return
	}
	var both sync.WaitGroup
	pass := func(p *pipe, from io.Reader, to net.Conn) {
		both.Go(func() {
			p.run(n.over, from, to)
			_ = client.Close() // either end may break it off
			_ = server.Close()
		})
	}
	pass(up, from, server)
	pass(down, server, client)
	both.Wait()
}

// keep has a connection closed with the network, and says whether that is still open.
func (n *Network) keep(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns != nil {
		n.conns[c] = true
	}
	return n.conns != nil
}

func (n *Network) end(c net.Conn) {
	_ = c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

// Link is the link between a client and a node, or the storage, or between a replica and its master.
type Link struct {
	Client, Node string
	AmongNodes   bool   // the client is a node too
	Addr         string // where the client connects
	Up, Down     *Flow

	upstream string // the address of the node
	mu       sync.Mutex
	via      *Link // the one that it leads over; nil for itself
}

func (l *Link) leads() *Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via != nil {
		return l.via
	}
	return l
}

// Lead redirects the link to where another one leads, with that one's impairments. Open connections end.
func (l *Link) Lead(to *Link) {
	before := l.leads()
	l.mu.Lock()
	l.via = to
	l.mu.Unlock()
	for _, f := range []*Flow{before.Up, before.Down} {
		f.Change(func(i *Impairment) { i.Resets++ })
	}
}

// Reaches reports whether the link loses no messages.
func (l *Link) Reaches() bool {
	up, _ := l.Up.State()
	down, _ := l.Down.State()
	return up.Lost == 0 && down.Lost == 0
}
