//go:build linux

package live

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// proxy is the link between a client and a node, or the storage, or between a replica and its master: a Toxiproxy with one
// toxic in each direction.
type proxy struct {
	client, node string
	amongNodes   bool // the client is a node too, which asks to be its replica
	addr         string
	upstream     string // the address that it leads to
	toxiproxy    *toxiproxy.Proxy
	up, down     *flow
	numbers      [2]int64 // by which the toxics find up and down
}

// A toxic finds its flow by a number, as Toxiproxy makes toxics from JSON.
var (
	flows  sync.Map // int64 → *flow
	number atomic.Int64
)

// proxyServer is what Toxiproxy wants its proxies to belong to.
var proxyServer = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())

func newProxy(client, node, upstream string) (*proxy, error) {
	p := &proxy{client: client, node: node, upstream: upstream, up: newFlow(), down: newFlow(),
		toxiproxy: toxiproxy.NewProxy(proxyServer, client+" "+node, "127.0.0.1:0", upstream)}
	for i, direction := range []string{"upstream", "downstream"} {
		n := number.Add(1)
		p.numbers[i] = n
		flows.Store(n, []*flow{p.up, p.down}[i])
		text := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": {"flow": %d}}`, direction, toxicName, direction, n)
		if _, err := p.toxiproxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			return nil, fmt.Errorf("live: toxiproxy: %w", err)
		}
	}
	if err := p.toxiproxy.Start(); err != nil {
		return nil, fmt.Errorf("live: toxiproxy: %w", err)
	}
	p.addr = p.toxiproxy.Listen
	return p, nil
}

func (p *proxy) close() {
	for _, w := range []*flow{p.up, p.down} {
		w.change(func(f *impairment) { f.closed = true })
	}
	p.toxiproxy.Stop()
	for _, n := range p.numbers {
		flows.Delete(n)
	}
}

// lead redirects the link to where another one leads, with that one's impairments. Open connections end.
func (p *proxy) lead(to *proxy) error {
	flows.Store(p.numbers[0], to.up)
	flows.Store(p.numbers[1], to.down)
	for _, w := range []*flow{p.up, p.down} {
		w.change(func(f *impairment) { f.resets++ })
	}
	if err := p.toxiproxy.Update(&toxiproxy.Proxy{Listen: p.addr, Upstream: to.upstream, Enabled: true}); err != nil {
		return fmt.Errorf("live: toxiproxy: %w", err)
	}
	return nil
}
