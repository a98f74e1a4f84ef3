// Package redisaddr reads the addresses of Redis servers, for the adapters to client libraries.
package redisaddr

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Parser makes the options of a client library of an address and of a URL, and says of which address they are.
type Parser[Options any] struct {
	OfAddr func(addr string) Options
	OfURL  func(url string) (Options, error)
	Addr   func(Options) string
}

// Parse reads "host:port", of which the default port is 6379, or URLs, in order. It refuses a server that is named twice: one
// server has one vote. Two DNS names may be one server all the same.
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
	if !strings.Contains(server, "://") {
		return p.OfAddr(withPort(server)), nil
	}
	options, err = p.OfURL(server)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // url.Error shows the URL, and with it the password
	}
	return options, err
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
