package rueidis

import (
	"errors"
	"net"
	"sync"

	"redlocksim/internal/resp"
)

// asked is what was sent over a connection and is not answered yet. rueidis panics, in goroutines of its own, at a
// reply that nobody asked for, and at a confirmation of a subscription where it expects something else. So the
// connection ends before it reads one.
type asked struct {
	mu         sync.Mutex
	due        []due // in the order in which they were sent
	confirms   int   // of the last SUBSCRIBE that was confirmed: for how many of its channels that is yet to come
	subscribes bool  // a SUBSCRIBE was sent
	isRESP3    bool  // from the beginning; otherwise what is published comes in lists like any other
	unsub      bool  // the last that was sent was an UNSUBSCRIBE
}

// due is what a server is yet to answer: so many commands, or a SUBSCRIBE to so many channels.
type due struct {
	what dueKind
	n    int
}

type dueKind uint8

const (
	commands dueKind = iota
	subscribe
	unsubscribe // with the PING that rueidis sends after it, whose answer counts for both
)

// follow has what is sent and answered on a connection followed.
func follow(c net.Conn) net.Conn {
	a := &asked{}
	return resp.Follow(c, resp.Lock, a.sent, a.replied)
}

func (a *asked) sent(f *resp.Frame) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wasUnsub := a.unsub
	a.unsub = false
	switch string(f.Text) {
	case "SUBSCRIBE":
		a.subscribes = true
		a.due = append(a.due, due{subscribe, f.Elements - 1})
		return
	case "UNSUBSCRIBE":
		a.unsub = true
		a.due = append(a.due, due{unsubscribe, 1})
		return
	case "PING":
		if wasUnsub {
			return
		}
	case "HELLO":
		a.isRESP3 = a.isRESP3 || f.Next == '3'
	}
	if last := len(a.due) - 1; last >= 0 && a.due[last].what == commands {
		a.due[last].n++
	} else {
		a.due = append(a.due, due{commands, 1})
	}
}

var (
	errUnasked    = errors.New("the server sends what nobody has asked for")
	errUnexpected = errors.New("the server answers a SUBSCRIBE or UNSUBSCRIBE with something else")
)

func (a *asked) replied(f *resp.Frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.subscribes && f.Kind == '>' {
		return errUnasked
	}
	isPong := f.Kind == '+' && string(f.Text) == "PONG"
	if a.isPublished(f) {
		if f.Of != '$' && f.Of != '+' {
			return errUnexpected
		}
		if isPong = string(f.Text) == "pong" && f.Kind != '>'; !isPong {
			return a.published(f)
		}
	}
	switch {
	case len(a.due) == 0:
		return errUnasked
	case a.due[0].what == subscribe && (f.Kind != '-' || string(f.Text) == "QUEUED"):
		return errUnexpected
	case a.due[0].what == unsubscribe && !isPong:
		return errUnexpected
	}
	a.answered()
	return nil
}

// isPublished reports whether rueidis takes a frame for something that is published, or a confirmation, or, in RESP2, a
// pong.
func (a *asked) isPublished(f *resp.Frame) bool {
	switch f.Kind {
	case '>':
		return f.Elements > 0
	case '*', '~', '%':
		return a.subscribes && !a.isRESP3 && f.Elements > 0
	}
	return false
}

// published takes what is published, or a confirmation.
func (a *asked) published(f *resp.Frame) error {
	if f.Elements < 2 {
		return nil
	}
	switch string(f.Text) {
	case "subscribe", "psubscribe", "ssubscribe":
		if a.confirms == 0 {
			if len(a.due) == 0 || a.due[0].what != subscribe {
				return errUnasked
			}
			a.confirms = a.due[0].n
			a.answered()
		}
		a.confirms--
	case "unsubscribe", "punsubscribe", "sunsubscribe":
		a.confirms = max(0, a.confirms-1) // as rueidis counts
	}
	return nil
}

// answered takes the first that is due as answered.
func (a *asked) answered() {
	if first := &a.due[0]; first.what == commands && first.n > 1 {
		first.n--
		return
	}
	a.due = append(a.due[:0], a.due[1:]...)
}
