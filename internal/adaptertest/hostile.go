//go:build unix

package adaptertest

import (
	"bufio"
	"io"
	"net"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// Saying is what a hostile server says: a beginning, and something that it repeats for as long as somebody listens.
type Saying struct {
	Name, First, Again string
	IsYes              bool // as the answer to an acquire
}

// Sayings are replies that take a believing client's memory, have it panic, or do not end.
var Sayings = []Saying{
	{"the longest text", "$9223372036854775807\r\n", "x", false},
	{"a text whose end overflows", "$9223372036854775806\r\n", "x", false},
	{"a text of a negative length", "$-9223372036854775808\r\n", "", false},
	{"a long text", "$2000000000\r\n", "xxxxxxxx", false},
	{"the longest list", "*9223372036854775807\r\n", ":1\r\n", false},
	{"a long list", "*1000000000\r\n", ":1\r\n", false},
	{"a long map", "%1000000000\r\n", ":1\r\n", false},
	{"a map whose elements overflow", "%4611686018427387904\r\n", ":1\r\n", false},
	{"a map of a negative length", "%-1\r\n", "", false},
	{"a long attribute", "|1000000000\r\n", ":1\r\n", false},
	{"a long push message", ">1000000000\r\n", ":1\r\n", false},
	{"lists in lists", "", "*1\r\n", false},
	{"attributes for ever", "", "|0\r\n", false},
	{"push messages for ever", "", ">1\r\n+a\r\n", false},
	{"confirmations for ever", "", ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", false},
	{"confirmations of the end for ever", "", ">3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n", false},
	{"messages for ever", "", ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\na\r\n", false},
	{"messages of an old server for ever", "", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\na\r\n", false},
	{"a line without an end", "+", "xxxxxxxx", false},
	{"replies that nobody asked for", "", ":1\r\n", true},
	{"statuses that nobody asked for", "", "+OK\r\n", true},
	{"queued", "", "+QUEUED\r\n", false},
	{"maps by lists", "", "%1\r\n*1\r\n:1\r\n:1\r\n", false},
	{"no number", ",nan\r\n", "", false},
	{"texts in pieces for ever", "$?\r\n", ";3\r\nabc\r\n", false},
	{"another protocol", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "", false},
}

// Stage is when a hostile server begins to be hostile: from a command on.
type Stage string

// The stages of a connection.
const (
	Handshake    Stage = "handshake"
	Replies      Stage = "replies"
	Subscription Stage = "subscribe" // on connections with a SUBSCRIBE; other commands get no answer
	Ends         Stage = "unsubscribe"
)

// Hostile is a server that says something from a stage on. Before that it answers as an old redis-server does.
func Hostile(t testing.TB, s Saying, from Stage) (addr string) {
	t.Helper()
	return Server(t, func(conn net.Conn) { s.speak(conn, from) })
}

// speak answers commands on a connection, until it may say what it says.
func (s Saying) speak(conn net.Conn, from Stage) {
	for r := bufio.NewReader(conn); ; {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		reply := ""
		switch name := Stage(strings.ToLower(words[0])); {
		case from == Handshake, from == Replies && name != "hello" && name != "ping", name == from:
			_, err = io.WriteString(conn, s.First)
			more := strings.Repeat(s.Again, 1000)
			for err == nil && more != "" {
				_, err = io.WriteString(conn, more)
			}
			_, _ = r.ReadByte() // until the other side has had enough
			return
		case name == "hello":
			reply = "-ERR unknown command 'HELLO'\r\n"
		case name == "ping":
			reply = "+PONG\r\n"
		case name == "subscribe":
			for _, channel := range words[1:] {
				reply += "*3\r\n$9\r\nsubscribe\r\n+" + channel + "\r\n:1\r\n"
			}
		case from == Replies || from == Handshake:
		default:
			reply = "-ERR not now\r\n"
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// hostileMemory is by how much the heap may grow while servers are hostile, all at once. A reply may take a MiB of it at the
// most; the rest is what a client reads and drops of what does not end, until it is collected.
const hostileMemory = 512 << 20

// hostileListening is for how long a node is listened to that is hostile.
const hostileListening = 30 * time.Millisecond

// A node may say anything, at any stage, to who asks it for a lock and to who listens: it does not vote, and takes a bounded
// amount of memory. That nothing panics is tested by that the test goes on.
func hostile(t *testing.T, a Adapter) {
	grown := heapGrows()
	t.Run("all", func(t *testing.T) {
		for _, from := range []Stage{Handshake, Replies, Subscription, Ends} {
			for _, s := range Sayings {
				t.Run(string(from)+"/"+s.Name, func(t *testing.T) {
					t.Parallel()
					nodes, end := a.Open(t, Config{}, Hostile(t, s, from))
					var stops []func()
					if from != Replies {
						for _, channel := range []string{"a", "b"} {
							stops = append(stops, nodes[0].(driver.Listener).Listen(channel, func(string) {}))
						}
					}
					for i := range 2 { // also over a connection that is there, and after one that broke
						if got := Acquire(t, nodes[0]); got.Outcome == driver.Accepted && !s.IsYes {
							t.Errorf("it voted")
						}
						if stops != nil {
							time.Sleep(hostileListening)
							stops[i]()
						}
					}
					if err := end(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	})
	if n := grown(); n > hostileMemory {
		t.Errorf("they take %d MiB", n>>20)
	}
}

// heapGrows watches the heap, and grown says by how much it has grown at the most.
func heapGrows() (grown func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	inUse := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, most := inUse(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			if now := inUse(); now > before {
				most = max(most, now-before)
			}
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return most
	}
}
