//go:build linux

package proxy

import (
	"bytes"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

const toxicName = "redlocksim"

func init() { toxics.Register(toxicName, new(toxic)) }

// toxic applies the impairment of a flow. Each direction of a link has one from the start: a toxic that comes and goes would
// have to hand over what it holds back.
//
// The answer to the handshake (HELLO) is never impaired. Connecting costs nothing in the scenarios, and a client that had to
// shake hands through a fault could not send the request that the fault is meant for.
type toxic struct {
	Flow int64 `json:"flow"`
}

// message is a chunk of the stream and when it is due.
type message struct {
	chunk *stream.StreamChunk
	due   time.Time
}

// Pipe implements toxics.Toxic.
func (t *toxic) Pipe(stub *toxics.ToxicStub) {
	found, ok := flows.Load(t.Flow)
	if !ok {
		stub.Close()
		return
	}
	p := &pipe{flow: found.(*Flow), stub: stub}
	p.seen = p.flow.watcher()
	start, _ := p.flow.State()
	p.resets = start.Resets
	p.run()
	stub.Close()
	for range stub.Input { // until the source is closed, so that its writer does not block
	}
}

// pipe is one direction of one connection.
type pipe struct {
	flow   *Flow
	stub   *toxics.ToxicStub
	queue  []message
	resets int  // of the flow, when this connection was opened
	gap    bool // something was lost, so that what follows would make no sense
	seen   func()
}

// run passes messages on until the connection ends.
func (p *pipe) run() {
	input := p.stub.Input
	for {
		now, changed := p.flow.State()
		if len(p.queue) > 0 && now.isInTheWay() || now.Resets != p.resets {
			p.flow.met.Store(true)
		}
		if now.Lost > 0 && len(p.queue) > 0 {
			p.queue, p.gap = nil, true
		}
		isStopped := now.Lost > 0 || now.Held > 0
		if now.closed || now.Resets != p.resets || p.gap && now.Lost == 0 {
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
			if chunk != nil {
				p.seen()
			}
			switch {
			case chunk == nil: // the source has closed; a peer that is cut off does not notice
				input = nil
			case len(p.queue) == 0 && isHandshake(chunk.Data):
				p.queue = append(p.queue, message{chunk, time.Now()})
				if !p.deliver() {
					return
				}
			default:
				now, _ := p.flow.State()
				if now.isInTheWay() {
					p.flow.met.Store(true)
				}
				if now.Lost > 0 {
					p.gap = true
				} else {
					p.queue = append(p.queue, message{chunk, time.Now().Add(now.Delay)})
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
			if now, _ := p.flow.State(); now.closed {
				return false
			}
		}
	}
	return true
}

// isHandshake recognizes the answer to HELLO: a list of 14 that begins with the server's name.
func isHandshake(data []byte) bool { return bytes.HasPrefix(data, []byte("*14\r\n$6\r\nserver\r\n")) }
