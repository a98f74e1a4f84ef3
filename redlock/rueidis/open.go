package rueidis

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/rueidis"

	"redlocksim/internal/redisaddr"
	"redlocksim/redlock/driver"
)

// Nodes are the nodes of [Open], with their clients.
type Nodes []driver.Node

// Open makes a node for each server: "host:port", or a URL as rueidis.ParseURL takes it (redis://user:password@host:6379/0,
// rediss:// for TLS, unix:///path). The default port is 6379. A node's name is its address, without credentials. Open does not
// connect.
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
func (o Opener) Open(servers ...string) (Nodes, error) {
	all, err := parseServers(servers)
	if err != nil {
		return nil, err
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

// parseServers reads the addresses, in order, and refuses a server that is named twice.
func parseServers(servers []string) ([]rueidis.ClientOption, error) {
	all, addrs := make([]rueidis.ClientOption, len(servers)), make([]string, len(servers))
	for i, server := range servers {
		var err error
		if all[i], err = parseServer(server); err != nil {
			return nil, fmt.Errorf("rueidis: server %d: %w", i+1, err)
		}
		addrs[i] = all[i].InitAddress[0]
	}
	if err := redisaddr.NamedOnce(addrs); err != nil {
		return nil, fmt.Errorf("rueidis: %w", err)
	}
	return all, nil
}

func parseServer(server string) (rueidis.ClientOption, error) {
	if server == "" {
		return rueidis.ClientOption{}, errors.New("the address is empty")
	}
	if !strings.Contains(server, "://") {
		return rueidis.ClientOption{InitAddress: []string{redisaddr.WithPort(server)}}, nil
	}
	options, err := rueidis.ParseURL(server)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // url.Error shows the URL, and with it the password
	}
	return options, err
}
