//go:build linux

package live

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
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
	up, down     *way
	numbers      [2]int64 // of the toxics that find up and down
}

// way is one direction of a link, and what is wrong with it.
type way struct {
	mu      sync.Mutex
	faults  wrong
	changed chan struct{} // closed when faults changes, and replaced
}

// wrong is what is wrong with a direction. The zero value is nothing.
type wrong struct {
	lost   int           // how many faults lose its messages
	held   int           // how many keep them back
	delay  time.Duration // what they take longer
	resets int           // how often its connections were broken
	closed bool          // the link is taken down
}

func newWay() *way { return &way{changed: make(chan struct{})} }

func (w *way) state() (wrong, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults, w.changed
}

func (w *way) change(f func(*wrong)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.faults)
	close(w.changed)
	w.changed = make(chan struct{})
}

// The toxic finds its way by a number: Toxiproxy makes toxics from JSON.
var (
	ways   sync.Map // int64 → *way
	number atomic.Int64
)

const toxicName = "redlocksim"

func init() { toxics.Register(toxicName, new(toxic)) }

// proxyServer is what Toxiproxy wants its proxies to belong to.
var proxyServer = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())

func newProxy(client, node, upstream string) (*proxy, error) {
	p := &proxy{client: client, node: node, upstream: upstream, up: newWay(), down: newWay(),
		toxiproxy: toxiproxy.NewProxy(proxyServer, client+" "+node, "127.0.0.1:0", upstream)}
	for i, direction := range []string{"upstream", "downstream"} {
		n := number.Add(1)
		p.numbers[i] = n
		ways.Store(n, []*way{p.up, p.down}[i])
		text := fmt.Sprintf(`{"name": %q, "type": %q, "stream": %q, "attributes": {"way": %d}}`, direction, toxicName, direction, n)
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
	for _, w := range []*way{p.up, p.down} {
		w.change(func(f *wrong) { f.closed = true })
	}
	p.toxiproxy.Stop()
	for _, n := range p.numbers {
		ways.Delete(n)
	}
}

// lead has the link lead where another one does, with all that is wrong with that one. Connections that there are end.
func (p *proxy) lead(to *proxy) error {
	ways.Store(p.numbers[0], to.up)
	ways.Store(p.numbers[1], to.down)
	for _, w := range []*way{p.up, p.down} {
		w.change(func(f *wrong) { f.resets++ })
	}
	if err := p.toxiproxy.Update(&toxiproxy.Proxy{Listen: p.addr, Upstream: to.upstream, Enabled: true}); err != nil {
		return fmt.Errorf("live: toxiproxy: %w", err)
	}
	return nil
}

// toxic is the whole of what can be wrong with one direction of a link. There is one on every link from the start, and it
// follows the way's state: a toxic that comes and goes would have to hand over what it holds back.
//
// What a fault does to a message, it does not do to the answer of the handshake (HELLO): setting up a connection costs
// nothing in the scenarios, and a client that had to shake hands through a fault could not send the request that is to
// meet it.
type toxic struct {
	Way int64 `json:"way"`
}

// message is a chunk of the stream and when it is due.
type message struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// Pipe implements toxics.Toxic.
func (t *toxic) Pipe(stub *toxics.ToxicStub) {
	found, ok := ways.Load(t.Way)
	if !ok {
		stub.Close()
		return
	}
	p := &pipe{way: found.(*way), stub: stub}
	start, _ := p.way.state()
	p.resets = start.resets
	p.run()
	stub.Close()
	for range stub.Input { // until the source is closed: who writes there must not be stuck
	}
}

// pipe is one direction of one connection.
type pipe struct {
	way    *way
	stub   *toxics.ToxicStub
	queue  []message
	resets int  // those from before it was opened
	gap    bool // something was lost: nothing that follows would make sense
}

// run passes messages on until the connection ends.
func (p *pipe) run() {
	input := p.stub.Input
	for {
		now, changed := p.way.state()
		if now.lost > 0 && len(p.queue) > 0 {
			p.queue, p.gap = nil, true
		}
		isStopped := now.lost > 0 || now.held > 0
		if now.closed || now.resets != p.resets || p.gap && now.lost == 0 {
			return
		}
		if !isStopped {
			if !p.deliver() {
				return
			}
			if input == nil && len(p.queue) == 0 {
				return
			}
		}
		var due <-chan time.Time
		if !isStopped && len(p.queue) > 0 {
			due = time.After(time.Until(p.queue[0].due))
		}
		select {
		case chunk := <-input:
			switch {
			case chunk == nil: // the source has closed; who is cut off does not notice
				input = nil
			case len(p.queue) == 0 && isHandshake(chunk.Data):
				p.queue = append(p.queue, message{chunk, time.Now()})
				if !p.deliver() {
					return
				}
			default:
				now, _ := p.way.state()
				if now.lost > 0 {
					p.gap = true
				} else {
					p.queue = append(p.queue, message{chunk, time.Now().Add(now.delay)})
				}
			}
		case <-changed:
		case <-due:
		}
	}
}

// deliver passes on what is due; false if the connection is gone meanwhile.
func (p *pipe) deliver() bool {
	for len(p.queue) > 0 && !time.Now().Before(p.queue[0].due) {
		select {
		case p.stub.Output <- p.queue[0].chunk:
			p.queue = p.queue[1:]
		case <-time.After(time.Second):
			if now, _ := p.way.state(); now.closed {
				return false
			}
		}
	}
	return true
}

// isHandshake recognizes the answer to HELLO: a list of 14 that begins with the server's name.
func isHandshake(data []byte) bool { return bytes.HasPrefix(data, []byte("*14\r\n$6\r\nserver\r\n")) }
