//go:build linux

// Package testbed is what a run on tier live runs on: server processes, client processes, the proxies between them, and the
// ground on which faults are injected into them.
package testbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
	"redlocksim/sim/history"
)

// Testbed is the servers, the client processes, and the links between them. [NewField] injects faults into it.
type Testbed struct {
	*Loop
	command []string // starts a client process
	work    *workDir

	Servers []*server.Server
	network *proxy.Network
	links   []*proxy.Link
	Clients []*Client
	gone    []*Client // that were killed and replaced

	Entries  []Entry
	OnEntry  func(Entry)                    // is told of every entry, if not nil
	OnNotice func(*Client, messages.Notice) // is told of the notices that are no entries, if not nil
	groups   []*group                       // of masters with their replicas
}

// New makes an empty testbed, with a directory for its files. It must be closed. command starts a client process; nil is this
// program with the argument live-client.
func New(speed int, command []string) (*Testbed, error) {
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{self, "live-client"}
	}
	work, err := newWorkDir(os.TempDir())
	if err != nil {
		return nil, err
	}
	return &Testbed{Loop: newLoop(speed), command: command, work: work, network: proxy.New()}, nil
}

// Path is where a file of this name is kept until the testbed is closed.
func (r *Testbed) Path(name string) string { return filepath.Join(r.work.path, name) }

// AddServers starts the servers of nodes. The members of a cluster, of which the first leads, have a link from each to each
// other, and a tunnel each through which it finds the others.
func (r *Testbed) AddServers(ctx context.Context, k *server.Kind, c server.Config) error {
	c.Work, c.Speed = r.work.path, int(r.Speed)
	servers, err := server.New(ctx, k, c)
	r.Servers = append(r.Servers, servers...)
	if err != nil {
		return err
	}
	for _, from := range servers {
		routes := map[string]proxy.Route{}
		for _, to := range servers {
			if from == to || to.Peers == nil {
				continue
			}
			if _, err := r.Link(from.Name, to.Name, to.Addr); err != nil {
				return err
			}
			link := r.LinkOf(from.Name, to.Name)
			link.AmongNodes = true
			for by, addr := range to.Peers {
				routes[by] = proxy.Route{Link: link, Addr: addr}
			}
		}
		if from.Greets == nil {
			continue
		}
		if from.Tunnel, err = r.network.Tunnel(from.Greets, routes); err != nil {
			return err
		}
	}
	return server.StartAll(ctx, servers)
}

// Link makes the link from a client to a node, and returns its address.
func (r *Testbed) Link(client, node, upstream string) (addr string, err error) {
	l, err := r.network.Link(client, node, upstream)
	r.links = append(r.links, l)
	return l.Addr, err
}

// LinkOf is the link from a client to a node, or from a replica to a master.
func (r *Testbed) LinkOf(client, node string) *proxy.Link {
	for _, p := range r.links {
		if p.Client == client && p.Node == node {
			return p
		}
	}
	return nil
}

// Happened takes down an event that happened when CLOCK_MONOTONIC read at.
func (r *Testbed) Happened(at int64, e history.Event) {
	r.take(Entry{At: at, Process: e.Process, Event: &e})
}

// take takes an entry of the record down.
func (r *Testbed) take(e Entry) {
	r.Entries = append(r.Entries, e)
	if r.OnEntry != nil {
		r.OnEntry(e)
	}
}

// StartClient starts a client process. It is not among clients yet.
func (r *Testbed) StartClient(name string, begin messages.Order) (*Client, error) {
	return startClient(r.command, name, begin, func(c *Client, n messages.Notice) {
		r.post(func() { r.notice(c, n) })
	}, func(c *Client, why error) {
		r.post(func() {
			if c.IsUp() { // we did not end it
				r.fail(why)
			}
		})
	})
}

// notice acts on a notice of a client.
func (r *Testbed) notice(c *Client, n messages.Notice) {
	switch {
	case n.Event != nil:
		r.Happened(n.At, *n.Event)
		if n.Wait > 0 && c.IsUp() {
			c.Send(messages.Order{Go: n.Wait})
		}
	case n.Belief != nil:
		r.take(Entry{At: n.At, Process: c.name, Belief: n.Belief})
	case r.OnNotice != nil:
		r.OnNotice(c, n)
	}
}

// retire takes leave of a client that has crashed and is to be replaced.
func (r *Testbed) retire(c *Client) {
	_ = c.orders.Close()
	r.gone = append(r.gone, c)
}

// ClientNamed is the client of this name; nil if there is none.
func (r *Testbed) ClientNamed(name string) *Client {
	for _, c := range r.Clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

// ServerNamed is the server of this name; nil if there is none.
func (r *Testbed) ServerNamed(name string) *server.Server {
	for _, s := range r.Servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Close ends whatever has been started and removes the files.
func (r *Testbed) Close() error {
	r.Loop.end()
	var errs []error
	for _, c := range append(r.gone, r.Clients...) {
		if c != nil {
			c.close()
		}
	}
	r.network.Close()
	for _, s := range r.Servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, r.work.remove())...)
}
