//go:build linux

package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Route is where a node finds a peer: a link to it, and the peer's own address, which may be a second one.
type Route struct {
	Link *Link
	Addr string
}

// Tunnel starts a proxy of HTTP or of SOCKS through which a node connects to its peers, and returns its address. Each peer has
// one address for all others, so only who connects tells which link the connection is to go over. routes are by the addresses
// that the node connects to.
func (n *Network) Tunnel(greet Greeting, routes map[string]Route) (addr string, err error) {
	return n.listen(func(from *bufio.Reader) (*Link, string, string, error) {
		address, yes, err := greet(from)
		to, known := routes[address]
		if err == nil && !known {
			err = fmt.Errorf("live: there is no peer at %q", address)
		}
		return to.Link, to.Addr, yes, err
	})
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
