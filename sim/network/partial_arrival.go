package network

// Arriving is how many of n requests in one message arrive: the first ones.
func (x *Exchange) Arriving(n int) int {
	if keep := x.torn[0].keep; keep > 0 {
		return min(n, keep)
	}
	return n
}

// Answers is how many of the n requests in one message are answered in the reply, and whether the connection is reset
// behind that.
func (x *Exchange) Answers(n int) (answered int, reset bool) {
	answered = x.Arriving(n)
	if keep := x.torn[1].keep; keep > 0 {
		answered = min(answered, keep)
	}
	return answered, answered < n && (x.torn[0].reset || x.torn[1].reset)
}

// isPartial reports whether answers are missing that may be waited for.
func (x *Exchange) isPartial() bool {
	if x.torn[0].keep == 0 && x.torn[1].keep == 0 {
		return false
	}
	b := x.end.(Batch)
	answered, reset := x.Answers(b.Requests())
	return answered < b.Requests() && !reset
}

// tear has the splits in force lose the end of a message.
func (x *Exchange) tear(kind MessageKind, w *way) {
	b, ok := x.end.(Batch)
	if !ok || kind == RefusalMessage {
		return
	}
	into, n := &x.torn[kind.lane()], b.Requests()
	if kind == ReplyMessage {
		n = x.Arriving(n)
	}
	for _, s := range w.splits {
		if s.keep < n {
			n, into.keep, into.reset = s.keep, s.keep, s.reset
			x.link.network.met = true
		}
	}
}

// tornBehind has nothing arrive behind a message of which the end is missing.
func (c *Connection) tornBehind(x *Exchange, kind MessageKind) {
	if kind == RequestMessage && x.torn[0].keep > 0 || kind == ReplyMessage && x.torn[1].keep > 0 {
		c.stalls(kind)
	}
}

// Batch is a Client whose request may be several in one message, of which the network can lose the end.
type Batch interface {
	Client
	// Requests is how many they are.
	Requests() int
}
