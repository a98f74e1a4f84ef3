//go:build linux

// Package proxy is the links between clients and nodes: proxies that lose, hold back, delay and reset what they pass on.
package proxy

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy is the link between a client and a node, or the storage, or between a replica and its master: a Toxiproxy with one
// toxic in each direction.
type Proxy struct {
	Client, Node string
	AmongNodes   bool // the client is a node too, which asks to be its replica
	Addr         string
	Up, Down     *Flow

	upstream  string // the address that it leads to
	toxiproxy *toxiproxy.Proxy
	numbers   [2]int64 // by which the toxics find Up and Down
}

// proxyServer is what Toxiproxy wants its proxies to belong to.
var proxyServer = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())

// New starts the link from a client to a node at the address upstream, on a free port.
func New(client, node, upstream string) (*Proxy, error) {
	return start(&Proxy{Client: client, Node: node, upstream: upstream, Up: newFlow(), Down: newFlow()})
}

// Beside starts another link beside this one, to another address of the node: what is wrong with one is wrong with both.
func (p *Proxy) Beside(upstream string) (*Proxy, error) {
	return start(&Proxy{Client: p.Client, Node: p.Node, AmongNodes: p.AmongNodes, upstream: upstream, Up: p.Up, Down: p.Down})
}

func start(p *Proxy) (*Proxy, error) {
	p.toxiproxy = toxiproxy.NewProxy(proxyServer, p.Client+" "+p.Node, "127.0.0.1:0", p.upstream)
	for i, direction := range []string{"upstream", "downstream"} {
		n := number.Add(1)
		p.numbers[i] = n
		flows.Store(n, []*Flow{p.Up, p.Down}[i])
		text := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": {"flow": %d}}`, direction, toxicName, direction, n)
		if _, err := p.toxiproxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			return nil, fmt.Errorf("live: toxiproxy: %w", err)
		}
	}
	if err := p.toxiproxy.Start(); err != nil {
		return nil, fmt.Errorf("live: toxiproxy: %w", err)
	}
	p.Addr = p.toxiproxy.Listen
	return p, nil
}

// Close ends the link and its connections.
func (p *Proxy) Close() {
	for _, w := range []*Flow{p.Up, p.Down} {
		w.Change(func(f *Impairment) { f.closed = true })
	}
	p.toxiproxy.Stop()
	for _, n := range p.numbers {
		flows.Delete(n)
	}
}

// patience is for how long a link waits for its port when it listens anew.
const patience = 10 * time.Second

// Lead redirects the link to where another one leads, with that one's impairments. Open connections end.
func (p *Proxy) Lead(to *Proxy) error {
	flows.Store(p.numbers[0], to.Up)
	flows.Store(p.numbers[1], to.Down)
	for _, w := range []*Flow{p.Up, p.Down} {
		w.Change(func(f *Impairment) { f.Resets++ })
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := p.toxiproxy.Update(&toxiproxy.Proxy{Listen: p.Addr, Upstream: to.upstream, Enabled: true})
		if err == nil {
			return nil
		}
		// It listens anew, and until then the port is free for any connection of this machine.
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return fmt.Errorf("live: toxiproxy: %w", err)
		}
	}
}

// Reaches reports whether the link loses no messages.
func (p *Proxy) Reaches() bool {
	up, _ := p.Up.State()
	down, _ := p.Down.State()
	return up.Lost == 0 && down.Lost == 0
}
