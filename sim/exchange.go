package sim

import "fmt"

// delivery is a message that has come to the end of its way.
type delivery struct {
	exchange *Exchange
	part     int
}

// Exchange is one request and its reply.
type Exchange struct {
	link       *Link
	epoch      int
	key        Key
	end        Client
	next, prev *Exchange
	isOpen     bool
	cut        bool // the connection was reset: a reply that is under way is lost
	buffered   bool // the reply is in the socket buffer of a paused client, where a reset leaves it
	requests   torn // how much of each way's messages arrives
	replies    torn
}

// torn is how much of a message arrives.
type torn struct {
	keep  int  // how many requests, or how many answers; 0 for all
	reset bool // the connection is reset behind them
}

// Client is the end of an exchange at which the request was made.
type Client interface {
	// Answered is called when the reply arrives, Broken when the connection is reset or refused; one of them, or
	// neither if a message is lost. After a reply of which a part is missing, without a reset, Broken may still come.
	Answered()
	Broken()
}

// Batch is a Client whose request may be several in one message, of which the network can lose the end.
type Batch interface {
	Client
	// Requests is how many they are.
	Requests() int
}

// Arriving is how many of n requests in one message arrive: the first ones.
func (x *Exchange) Arriving(n int) int {
	if keep := x.requests.keep; keep > 0 {
		return min(n, keep)
	}
	return n
}

// Answers is how many of the n requests in one message are answered in the reply, and whether the connection is reset
// behind that.
func (x *Exchange) Answers(n int) (answered int, reset bool) {
	answered = x.Arriving(n)
	if keep := x.replies.keep; keep > 0 {
		answered = min(answered, keep)
	}
	return answered, answered < n && (x.requests.reset || x.replies.reset)
}

// isPartial reports whether answers are missing that may be waited for.
func (x *Exchange) isPartial() bool {
	if x.requests.keep == 0 && x.replies.keep == 0 {
		return false
	}
	b := x.end.(Batch)
	answered, reset := x.Answers(b.Requests())
	return answered < b.Requests() && !reset
}

// tear has the splits in force lose the end of a message.
func (x *Exchange) tear(part int, w *way) {
	b, ok := x.end.(Batch)
	if !ok || part == partReset {
		return
	}
	into, n := &x.requests, b.Requests()
	if part == partReply {
		into, n = &x.replies, x.Arriving(n)
	}
	for _, s := range w.splits {
		if s.keep < n {
			n, into.keep, into.reset = s.keep, s.keep, s.reset
		}
	}
}

// The parts of an exchange; what an event of the network carries.
const (
	partRequest = iota
	partReply
	partReset
)

// Open begins an exchange: the request is on its way. key says what it is for; two requests of a run that can be under
// way on the link at the same time must not share it.
func (l *Link) Open(x *Exchange, key Key, end Client) {
	if l.leads != nil {
		l = l.leads
	}
	if l.begin(x, key, end) {
		x.send(partRequest)
	}
}

// push begins an exchange that has no request: the server's message is on its way.
func (l *Link) push(x *Exchange, key Key, end Client) {
	if l.begin(x, key, end) {
		x.send(partReply)
	}
}

func (l *Link) begin(x *Exchange, key Key, end Client) bool {
	*x = Exchange{link: l, epoch: l.epoch, key: key, end: end}
	if l.client.dead || l.network.k.closed {
		return false
	}
	x.isOpen = true
	x.next = l.open
	if l.open != nil {
		l.open.prev = x
	}
	l.open = x
	return true
}

// Reply sends the server's answer.
func (x *Exchange) Reply() { x.send(partReply) }

// Abandon closes the client's end: no reply will arrive any more. The request may still arrive.
func (x *Exchange) Abandon() {
	if !x.isOpen {
		return
	}
	x.isOpen = false
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		x.link.open = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	}
	x.next, x.prev = nil, nil
}

func (x *Exchange) way(part int) *way {
	if part == partRequest {
		return &x.link.request
	}
	return &x.link.reply
}

// send puts a message on its way, or loses it if the way is cut.
func (x *Exchange) send(part int) {
	l := x.link
	w := x.way(part)
	record := l.network.k.recorder
	if record != nil {
		record.sent(x, part)
	}
	if w.cuts > 0 {
		x.ended(part, Lost, lostToPartition)
		return
	}
	if w.splits != nil {
		x.tear(part, w)
	}
	lab := x.label(part)
	at := l.network.k.now.Add(w.latency.draw(l.draw.With(uint64(x.key)).With(uint64(part))) + w.delays)
	l.network.k.schedule(at, ordinary, nil, lab, x, part)
}

// What a message can be lost to, as a Recording says it.
const (
	lostToPartition = "a partition"
	lostToReset     = "its connection was reset"
	lostToCrash     = "the process has crashed"
)

// ended has what became of a message recorded.
func (x *Exchange) ended(part int, fate Fate, why string) {
	if p, isPush := x.end.(*push); isPush && !p.confirms && fate == Lost {
		x.link.network.k.counts.Unheard++
	}
	if record := x.link.network.k.recorder; record != nil {
		record.ended(x, part, fate, why)
	}
}

// label is what the trace says of the arrival of a message.
func (x *Exchange) label(part int) label {
	l := x.link
	switch part {
	case partRequest:
		return label{kind: StepRequest, from: l.client.number, to: l.server.number, ref: uint64(x.key)}
	case partReset:
		return label{kind: StepRefusal, from: l.server.number, to: l.client.number, ref: uint64(x.key)}
	}
	return label{kind: StepReply, from: l.server.number, to: l.client.number, ref: uint64(x.key)}
}

// fire is the arrival of a message at the far end, where the network may still keep it back or lose it.
func (x *Exchange) fire(part int) {
	w := x.way(part)
	switch {
	case w.cuts > 0:
		x.ended(part, Lost, lostToPartition)
	case w.holds > 0:
		w.held = append(w.held, delivery{x, part})
	default:
		x.deliver(part)
	}
}

func (x *Exchange) deliver(part int) {
	if part != partRequest {
		x.handOver(x.link.client, part)
	} else if x.isMet() {
		x.handOver(x.link.server, part)
	}
}

// isMet says whether there is a server for a request, on the connection that it came by; if only the process is gone its
// machine refuses.
func (x *Exchange) isMet() bool {
	l := x.link
	state := l.down()
	if state == listening && x.epoch == l.epoch {
		return true
	}
	x.ended(partRequest, Lost, [...]string{listening: lostToReset, refusing: "the process is down", silent: "the machine is off"}[state])
	if state != silent {
		x.send(partReset)
	}
	return false
}

// handOver gives a message to the process it is for, or has it wait in the process's socket buffer.
func (x *Exchange) handOver(receiver *Process, part int) {
	d := delivery{x, part}
	if !receiver.paused && !receiver.dead {
		d.fire(0)
		return
	}
	if receiver.dead {
		x.ended(part, Lost, lostToCrash)
	}
	x.buffered = x.buffered || part == partReply && !x.cut
	receiver.admits(deferred{handler: d, label: x.label(part)})
}

// fire hands the message to the process it is for.
func (d delivery) fire(int) {
	x := d.exchange
	if d.part == partRequest {
		if x.isMet() { // it may have waited for a paused server, which is gone since
			x.ended(d.part, Arrived, x.requests.String())
			x.link.listener(x)
		}
		return
	}
	switch {
	case !x.isOpen:
		x.ended(d.part, TooLate, "")
		return
	case x.cut && !x.buffered && d.part == partReply:
		x.ended(d.part, Lost, lostToReset)
		return
	}
	if d.part == partReset {
		x.ended(d.part, Arrived, "")
		x.Abandon()
		x.end.Broken()
		return
	}
	x.ended(d.part, Arrived, x.replies.String())
	if !x.isPartial() {
		x.Abandon()
	}
	x.end.Answered()
}

// String says how much of a message arrived, empty if all of it.
func (t torn) String() string {
	if t.keep == 0 {
		return ""
	}
	return fmt.Sprintf("only the first %d", t.keep)
}

// Client is the end at which the request was made.
func (x *Exchange) Client() Client { return x.end }
