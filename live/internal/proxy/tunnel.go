//go:build linux

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Tunnel is the proxy of one node, of HTTP or of SOCKS, through which it connects to its peers. Each peer has one address for
// all others, so only who connects tells which link the connection is to go over.
type Tunnel struct {
	Addr     string
	listener net.Listener
	routes   map[string]string // the addresses of links, by those that the node connects to
	greet    Greeting

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once the tunnel is closed
	all   sync.WaitGroup
}

// Greeting reads with which address a client of a proxy wants to be connected. yes is what it is told when it is.
type Greeting func(from *bufio.Reader) (address, yes string, err error)

// HTTP is the method CONNECT.
func HTTP(from *bufio.Reader) (address, yes string, err error) {
	asked, err := http.ReadRequest(from)
	if err == nil && asked.Method != http.MethodConnect {
		err = http.ErrNotSupported
	}
	if err != nil {
		return "", "", err
	}
	return asked.Host, "HTTP/1.1 200 Connection established\r\n\r\n", nil
}

// SOCKS4 is the command CONNECT of SOCKS, version 4: a version, a command, a port, an address of IPv4 and the name of a user.
func SOCKS4(from *bufio.Reader) (address, yes string, err error) {
	var asked [8]byte
	if _, err = io.ReadFull(from, asked[:]); err == nil {
		_, err = from.ReadString(0)
	}
	if err == nil && (asked[0] != 4 || asked[1] != 1) {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return "", "", err
	}
	port := binary.BigEndian.Uint16(asked[2:])
	return net.JoinHostPort(net.IP(asked[4:]).String(), strconv.Itoa(int(port))), "\x00\x5a\x00\x00\x00\x00\x00\x00", nil
}

// NewTunnel starts a proxy that leads what connects to an address to another one, on a free port.
func NewTunnel(greet Greeting, routes map[string]string) (*Tunnel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &Tunnel{Addr: l.Addr().String(), listener: l, routes: routes, greet: greet, conns: map[net.Conn]bool{}}
	t.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.all.Go(func() { t.serve(c) })
		}
	})
	return t, nil
}

// Close ends the tunnel and its connections.
func (t *Tunnel) Close() {
	_ = t.listener.Close()
	t.mu.Lock()
	for c := range t.conns {
		_ = c.Close()
	}
	t.conns = nil
	t.mu.Unlock()
	t.all.Wait()
}

// keep has a connection closed with the tunnel, and says whether that is still open.
func (t *Tunnel) keep(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns != nil {
		t.conns[c] = true
	}
	return t.conns != nil
}

func (t *Tunnel) end(c net.Conn) {
	_ = c.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// serve leads one connection to where it asks to be led.
func (t *Tunnel) serve(c net.Conn) {
	defer t.end(c)
	if !t.keep(c) {
		return
	}
	from := bufio.NewReader(c)
	address, yes, err := t.greet(from)
	if err != nil {
		return
	}
	to, err := net.Dial("tcp", t.routes[address])
	if err != nil {
		return
	}
	defer t.end(to)
	if !t.keep(to) {
		return
	}
	if _, err := io.WriteString(c, yes); err != nil {
		return
	}
	t.all.Go(func() {
		_, _ = io.Copy(c, to) // either end may break it off
		_ = c.Close()
	})
	_, _ = io.Copy(to, from)
}
