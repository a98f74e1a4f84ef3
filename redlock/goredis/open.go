package goredis

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisaddr"
	"redlocksim/redlock/driver"
)

// Nodes are the nodes of [Open], with their clients.
type Nodes []driver.Node

// Open makes a node for each server: "host:port", or a URL as redis.ParseURL takes it (redis://user:password@host:6379/0,
// rediss:// for TLS, unix:///path). The default port is 6379. A node's name is its address, without credentials. Open does not
// connect.
//
// Name each server once, in whatever spelling: localhost, 127.0.0.1 and [::1] are one host. Open cannot see that two DNS names
// are one server, so use addresses, or one name for each server.
func Open(servers ...string) (Nodes, error) { return Opener{}.Open(servers...) }

// Opener opens servers as [Open] does, with settings of its own. The zero value has none.
type Opener struct {
	// Options, if not nil, changes what go-redis is told of each server, which is what its address says until then: another
	// dialer, a certificate, the size of the pool. [NewClient] says what it sets itself. It must leave the address alone.
	Options func(*redis.Options)
	// Runtime is that of the redlock client; see redlock.WithRuntime.
	Runtime driver.Runtime
}

// Open makes a node for each server; see the function of that name.
func (o Opener) Open(servers ...string) (Nodes, error) {
	all, err := parseServers(servers)
	if err != nil {
		return nil, err
	}
	nodes := make(Nodes, 0, len(all))
	for _, options := range all {
		if o.Options != nil {
			o.Options(options)
		}
		client := NewClient(options)
		node, err := NewNode(client, Runtime(o.Runtime))
		if err != nil {
			return nil, errors.Join(err, client.Close(), nodes.Close())
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// Close ends the subscriptions of redlock.WithWakeUp and closes the clients. Commands in flight end with redlock.Refused. A
// server that does not answer can delay Close by two seconds. If a server could not be reached, the probe of go-redis' pool
// (see [NewClient]) ends about a second later.
func (n Nodes) Close() error {
	var errs []error
	for _, node := range n {
		if node, ok := node.(*Node); ok {
			defer node.subscription.End()()
		}
	}
	for _, node := range n {
		if node, ok := node.(*Node); ok {
			errs = append(errs, node.client.Close())
		}
	}
	return errors.Join(errs...)
}

// parseServers reads the addresses, in order, and refuses a server that is named twice.
func parseServers(servers []string) ([]*redis.Options, error) {
	all, addrs := make([]*redis.Options, len(servers)), make([]string, len(servers))
	for i, server := range servers {
		var err error
		if all[i], err = parseServer(server); err != nil {
			return nil, fmt.Errorf("goredis: server %d: %w", i+1, err)
		}
		addrs[i] = all[i].Addr
	}
	if err := redisaddr.NamedOnce(addrs); err != nil {
		return nil, fmt.Errorf("goredis: %w", err)
	}
	return all, nil
}

func parseServer(server string) (*redis.Options, error) {
	if server == "" {
		return nil, errors.New("the address is empty")
	}
	if !strings.Contains(server, "://") {
		return &redis.Options{Addr: redisaddr.WithPort(server)}, nil
	}
	options, err := redis.ParseURL(server)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // url.Error shows the URL, and with it the password
	}
	return options, err
}
