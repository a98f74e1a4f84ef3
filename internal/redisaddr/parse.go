// Package redisaddr reads the addresses of Redis servers, for the adapters to client libraries.
package redisaddr

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Parser makes the options of a client library of an address and of a URL, and says of which address they are.
type Parser[Options any] struct {
	OfAddr func(addr string) Options
	OfURL  func(url string) (Options, error)
	Addr   func(Options) string
	// Ignores says that a parameter of the URL of some options has no effect: the client library does not know it, or a lock
	// sets it itself.
	Ignores func(of Options, parameter string) bool
}

// Parse reads "host:port", of which the default port is 6379, or URLs, in order. It refuses a server that is named
// twice: one server has one vote. Two DNS names may be one server all the same.
func (p Parser[Options]) Parse(servers []string) ([]Options, error) {
	all, addrs := make([]Options, len(servers)), make([]string, len(servers))
	for i, server := range servers {
		var err error
		if all[i], err = p.one(server); err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		addrs[i] = p.Addr(all[i])
	}
	return all, namedOnce(addrs)
}

func (p Parser[Options]) one(server string) (options Options, err error) {
	if server == "" {
		return options, errors.New("the address is empty")
	}
	if err := Check(server); err != nil {
		return options, err
	}
	if !strings.Contains(server, "://") {
		return p.OfAddr(withPort(server)), nil
	}
	if options, err = p.OfURL(server); err != nil {
		return options, err
	}
	return options, p.checkParameters(options, server)
}

// checkParameters refuses a URL with parameters that have no effect.
func (p Parser[Options]) checkParameters(options Options, server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	var ignored []string
	for parameter := range u.Query() {
		if p.Ignores(options, parameter) {
			ignored = append(ignored, parameter)
		}
	}
	if ignored == nil {
		return nil
	}
	slices.Sort(ignored)
	return fmt.Errorf("parameters of the URL would have no effect, leave them out: %q", ignored)
}

// Check refuses an address or URL that cannot be read, without a word of the user and password in it, also where they
// were put so that a client library takes them for a host, a port or a path, which its error would show.
func Check(server string) error {
	scheme, rest, isURL := strings.Cut(server, "://")
	switch {
	case strings.HasPrefix(server, "/"): // a socket of Unix
		return nil
	case !isURL && strings.Contains(server, "@"):
		return errors.New("an address with a user has a scheme, as in redis://USER:PASSWORD@HOST:PORT")
	case !isURL:
		return nil
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	withoutUser := rest[strings.LastIndexByte(authority, '@')+1:]
	if !strings.Contains(withoutUser, "@") {
		if _, err := url.Parse(scheme + "://" + withoutUser); err != nil {
			return errors.Unwrap(err) // url.Error shows the URL
		}
		if _, err := url.Parse(server); err == nil {
			return nil
		}
	}
	return errors.New("the URL cannot be read: in a user or password, write special characters as in a URL, / as %2F")
}

// namedOnce is an error if two of the addresses are of one server, by what they say, without asking the DNS.
func namedOnce(addrs []string) error {
	named := make(map[string]string, len(addrs))
	for i, addr := range addrs {
		place := placeOf(addr)
		switch first, again := named[place]; {
		case again && first == addr:
			return fmt.Errorf("server %d: %s is named twice, and one server has one vote", i+1, first)
		case again:
			return fmt.Errorf("server %d: %s is the same server as %s, and one server has one vote", i+1, addr, first)
		}
		named[place] = addr
	}
	return nil
}

const defaultPort = "6379"

// withPort adds the port of Redis to an address that has none.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	host := strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]")
	if _, err := netip.ParseAddr(host); err != nil && strings.Contains(host, ":") {
		return addr // what the dialer says of it is clearer
	}
	return net.JoinHostPort(host, defaultPort)
}

// placeOf is the same for the addresses of one server. What begins with a slash is a socket of Unix.
func placeOf(addr string) string {
	if strings.HasPrefix(addr, "/") {
		return filepath.Clean(addr)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		port = strconv.FormatUint(n, 10)
	}
	return net.JoinHostPort(canonicalHost(host), port)
}

// canonicalHost spells a host in one way. What is dialled as this machine is: no host, the unspecified addresses,
// localhost and its addresses.
func canonicalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		if ip.IsUnspecified() || ip == netip.IPv6Loopback() || ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			return "localhost"
		}
		return ip.String()
	}
	if host == "" || strings.HasSuffix(host, ".localhost") {
		return "localhost"
	}
	return host
}
