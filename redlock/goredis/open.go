package goredis

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisaddr"
	"redlocksim/redlock/driver"
)

// Nodes are the nodes of [Open], with their clients.
type Nodes []driver.Node

// Open makes a node for each server: "host:port", or a URL as redis.ParseURL takes it (redis://user:password@host:6379/0,
// rediss:// for TLS, unix:///path). The default port is 6379. A parameter of a URL that [NewClient] sets itself is
// refused. A node's name is its address, without credentials. Open does not connect.
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
func (o Opener) Open(named ...string) (Nodes, error) {
	all, err := servers.Parse(named)
	if err != nil {
		return nil, fmt.Errorf("goredis: %w", err)
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

var servers = redisaddr.Parser[*redis.Options]{
	OfAddr: func(addr string) *redis.Options { return &redis.Options{Addr: addr} },
	OfURL:  redis.ParseURL,
	Addr:   func(o *redis.Options) string { return o.Addr },
	Ignores: func(_ *redis.Options, parameter string) bool { // redis.ParseURL refuses what it does not know
		switch parameter {
		case "protocol", "max_retries", "min_retry_backoff", "max_retry_backoff", "read_timeout", "write_timeout":
			return true
		}
		return false
	},
}
