package network

import "redlocksim/sim/kernel"

// Open begins an exchange: the request is on its way. key says what it is for; two requests of a run that can be under
// way on the link at the same time must not share it.
func (l *Link) Open(x *Exchange, key kernel.Key, end Client) {
	if l.leads != nil {
		l = l.leads
	}
	if l.begin(x, l.client, key, end) {
		x.send(RequestMessage)
	}
}

// Dial asks for a connection. The server's machine takes it, whether the process is paused or not. Its answer is a message that
// the server pushes.
func (l *Link) Dial(c *Connection, key kernel.Key, end Client) {
	if l.leads != nil {
		l = l.leads
	}
	c.lanes = [2]ordered{}
	if l.begin(&c.Exchange, l.client, key, end) {
		c.Exchange.on = c
		c.Exchange.send(RequestMessage)
	}
}

// Open begins an exchange on the connection; see Link.Open.
func (c *Connection) Open(x *Exchange, key kernel.Key, end Client) {
	if c.link.begin(x, c.from, key, end) {
		x.on, x.epoch = c, c.epoch
		x.send(RequestMessage)
	}
}

// Push begins an exchange that has no request: a message of the server is on its way to who has made another one.
func (x *Exchange) Push(to *Exchange, key kernel.Key, end Client) {
	if to.link.begin(x, to.from, key, end) {
		x.on, x.epoch = to.on, to.epoch
		x.send(ReplyMessage)
	}
}

// Reply sends the server's answer.
func (x *Exchange) Reply() { x.send(ReplyMessage) }

// send puts a message on its way, or loses it if the way is cut.
func (x *Exchange) send(kind MessageKind) {
	l := x.link
	w, leaves := x.way(kind), l.network.k.Now()
	if kind == RequestMessage {
		leaves = x.from.Sends(l.draw.With(uint64(x.key)).WithString("step"))
		x.sent = leaves
	}
	l.network.sent.Tell(Sent{x, kind})
	l.network.met = l.network.met || w.cuts > 0 || w.delays > 0
	if w.cuts > 0 {
		x.ended(kind, Lost, lostToPartition)
		return
	}
	if w.splits != nil {
		x.tear(kind, w)
	}
	*x.late(kind) = w.delays
	at := leaves.Add(w.latency.Draw(l.draw.With(uint64(x.key)).With(uint64(kind))) + w.delays)
	if x.on != nil {
		at = x.on.behind(kind, at)
	}
	l.network.k.Schedule(at, x.label(kind), x, int(kind))
}
