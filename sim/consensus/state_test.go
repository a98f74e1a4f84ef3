package consensus

import (
	"testing"
	"time"
)

func TestState(t *testing.T) {
	acquire := func(session string) Request {
		return Request{Kind: Acquire, Session: session, Resource: "r", TTL: time.Second, Queue: true}
	}
	try := func(session string) Request {
		return Request{Kind: Acquire, Session: session, Resource: "r", TTL: time.Second}
	}
	s := newState()
	for _, step := range []struct {
		name string
		r    Request
		want Answer
	}{
		{"a free lock", try("a"), Answer{Status: Done, Revision: 1}},
		{"asked for again", try("a"), Answer{Status: Done, Revision: 1}},
		{"taken", try("b"), Answer{Status: Taken}},
		{"whoever only tries opens no session", Request{Kind: KeepAlive, Session: "b"}, Answer{Status: Gone}},
		{"first in the queue", acquire("c"), Answer{Status: Taken}},
		{"second in the queue", acquire("d"), Answer{Status: Taken}},
		{"waiting keeps its session", Request{Kind: KeepAlive, Session: "d"}, Answer{Status: Done}},
		{"the owner leaves", Request{Kind: Close, Session: "a"}, Answer{Status: Done}},
		{"a late request of a session that has ended", acquire("a"), Answer{Status: Gone}},
		{"and to keep it", Request{Kind: KeepAlive, Session: "a"}, Answer{Status: Gone}},
		{"the first in the queue has it", try("c"), Answer{Status: Done, Revision: 2}},
		{"the one in the queue has not", try("d"), Answer{Status: Taken}},
		{"closed before it was opened", Request{Kind: Close, Session: "e"}, Answer{Status: Gone}},
		{"is never opened", acquire("e"), Answer{Status: Gone}},
		{"the owner is not heard of", Request{Kind: expire, Session: "c"}, Answer{Status: Done}},
		{"the next has it", acquire("d"), Answer{Status: Done, Revision: 3}},
	} {
		if got := s.apply(step.r); got != step.want {
			t.Fatalf("%s: %+v, want %+v", step.name, got, step.want)
		}
	}
}
