package rueidis

import (
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"redlocksim/internal/redisaddr"
	"redlocksim/redlock/driver"
)

// Nodes are the nodes of [Open], with their clients.
type Nodes []driver.Node

// Open makes a node for each server: "host:port", or a URL as rueidis.ParseURL takes it (redis://user:password@host:6379/0,
// rediss:// for TLS, unix:///path). The default port is 6379. A parameter of a URL that has no effect is refused: one that
// rueidis does not know, or that a node sets itself (see [Opener]). A node's name is its address, without credentials. Open
// does not connect.
//
// Name each server once, in whatever spelling: localhost, 127.0.0.1 and [::1] are one host. Open cannot see that two DNS names
// are one server, so use addresses, or one name for each server.
func Open(servers ...string) (Nodes, error) { return Opener{}.Open(servers...) }

// Opener opens servers as [Open] does, with settings of its own. The zero value has none.
type Opener struct {
	// Options, if not nil, changes what rueidis is told of each server, which is what its address says until then: another
	// dialer, a certificate, credentials. It must leave the address alone.
	//
	// A node sets ForceSingleClient, DisableRetry, DisableCache and AlwaysPipelining, with one connection for all commands
	// (PipelineMultiplex). Unless they are set, Dialer.Timeout, Dialer.KeepAlive and ConnWriteTimeout are a second, the buffers
	// are of 16 KiB, and ClientSetInfo is off.
	Options func(*rueidis.ClientOption)
	// Runtime is that of the redlock client; see redlock.WithRuntime.
	Runtime driver.Runtime
}

// Open makes a node for each server; see the function of that name.
func (o Opener) Open(named ...string) (Nodes, error) {
	all, err := servers.Parse(named)
	if err != nil {
		return nil, fmt.Errorf("rueidis: %w", err)
	}
	nodes := make(Nodes, 0, len(all))
	for _, options := range all {
		if o.Options != nil {
			o.Options(&options)
		}
		node, err := NewNode(options, Runtime(o.Runtime))
		if err != nil {
			return nil, errors.Join(err, nodes.Close())
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// Close closes the nodes, all at once; see [Node.Close].
func (n Nodes) Close() error {
	ended := make(chan error)
	for _, node := range n {
		go func() { ended <- node.(*Node).Close() }()
	}
	var errs []error
	for range n {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

var servers = redisaddr.Parser[rueidis.ClientOption]{
	OfAddr: func(addr string) rueidis.ClientOption { return rueidis.ClientOption{InitAddress: []string{addr}} },
	OfURL:  rueidis.ParseURL,
	Addr:   func(o rueidis.ClientOption) string { return o.InitAddress[0] },
	Ignores: func(o rueidis.ClientOption, parameter string) bool {
		switch parameter {
		case "db", "dial_timeout", "write_timeout", "addr", "protocol", "client_name", "master_set":
			return false
		case "skip_verify":
			return o.TLSConfig == nil
		}
		return true
	},
}
