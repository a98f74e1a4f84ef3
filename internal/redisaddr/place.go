package redisaddr

import (
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

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
