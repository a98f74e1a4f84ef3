package network

import "redlocksim/sim/kernel"

// Fire is the arrival of a message at the far end, where the network may still keep it back or lose it.
func (x *Exchange) Fire(arg int) {
	kind := MessageKind(arg)
	w := x.way(kind)
	switch {
	case x.on != nil && x.on.isStalled(kind):
		x.ended(kind, Lost, lostBehind)
	case w.cuts > 0:
		x.link.network.met = true
		x.ended(kind, Lost, lostToPartition)
	case w.holds > 0:
		x.link.network.met = true
		w.held = append(w.held, held{delivery{x, kind}, x.link.network.k.Now()})
	case kind != RequestMessage:
		x.handOver(x.from, kind)
	case x.isMet():
		x.handOver(x.link.server, kind)
	}
}

// Idle implements kernel.Idle.
func (x *Exchange) Idle(arg int) bool {
	kind := MessageKind(arg)
	return kind != RequestMessage && (!x.isOpen || x.from.Dead() || x.cut && !x.buffered && kind == ReplyMessage)
}

// isMet says whether there is a server for a request, on the connection that it came by; if only the process is gone its
// machine refuses.
func (x *Exchange) isMet() bool {
	state := x.link.presence()
	if state == Listening && x.Connected() {
		return true
	}
	x.ended(RequestMessage, Lost, lostToServer[state])
	if state != Silent {
		x.send(RefusalMessage)
	}
	return false
}

// handOver gives a message to the process it is for, or has it wait in the process's socket buffer.
func (x *Exchange) handOver(receiver *kernel.Process, kind MessageKind) {
	d := delivery{x, kind}
	switch {
	case receiver.Dead():
		x.ended(kind, Lost, lostToCrash)
	case receiver.Paused() && !x.dials(kind):
		x.buffered = x.buffered || kind == ReplyMessage && !x.cut
		receiver.Postpone(x.label(kind), d)
	default:
		d.Fire(0)
	}
}

// dials says whether a message asks for a connection, which the machine of a paused process takes.
func (x *Exchange) dials(kind MessageKind) bool {
	return x.on != nil && x == &x.on.Exchange && kind == RequestMessage
}

// Fire hands the message to the process it is for.
func (d delivery) Fire(int) {
	x := d.exchange
	if x.on != nil {
		defer x.on.tornBehind(x, d.kind)
	}
	if d.kind == RequestMessage {
		if x.isMet() { // it may have waited for a paused server, which is gone since
			x.ended(d.kind, Arrived, x.torn[0].String())
			x.link.listener(x)
		}
		return
	}
	switch {
	case !x.isOpen:
		x.ended(d.kind, TooLate, "")
		return
	case x.cut && !x.buffered && d.kind == ReplyMessage:
		x.ended(d.kind, Lost, lostToReset)
		return
	}
	if d.kind == RefusalMessage {
		x.ended(d.kind, Arrived, "")
		x.Abandon()
		x.end.Broken()
		return
	}
	x.ended(d.kind, Arrived, x.torn[1].String())
	if !x.isPartial() {
		x.Abandon()
	}
	x.end.Answered()
}

// Dropped implements kernel.Droppable: the process has ended in whose socket buffer the message was.
func (d delivery) Dropped() { d.exchange.observe(d.kind, Lost, lostToCrash) }
