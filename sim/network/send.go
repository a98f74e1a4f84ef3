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

// Push begins an exchange that has no request: a message of the server is on its way to who has made another one.
func (x *Exchange) Push(to *Exchange, key kernel.Key, end Client) {
	if to.link.begin(x, to.from, key, end) {
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
	for _, o := range l.network.observers {
		o.Sent(x, kind)
	}
	if w.cuts > 0 {
		x.ended(kind, Lost, lostToPartition)
		return
	}
	if w.splits != nil {
		x.tear(kind, w)
	}
	at := leaves.Add(w.latency.Draw(l.draw.With(uint64(x.key)).With(uint64(kind))) + w.delays)
	l.network.k.Schedule(at, x.label(kind), x, int(kind))
}
