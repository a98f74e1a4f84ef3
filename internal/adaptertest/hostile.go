//go:build unix

package adaptertest

import (
	"bufio"
	"io"
	"net"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/redlock"
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
	{"a longer text than numbers go", "$99999999999999999999\r\n", "x", false},
	{"a text of a negative length", "$-9223372036854775808\r\n", "", false},
	{"a long text", "$2000000000\r\n", "xxxxxxxx", false},
	{"a long error", "!2000000000\r\n", "xxxxxxxx", false},
	{"a long text with a format", "=2000000000\r\n", "xxxxxxxx", false},
	{"the longest list", "*9223372036854775807\r\n", ":1\r\n", false},
	{"a long list", "*1000000000\r\n", ":1\r\n", false},
	{"a long set", "~1000000000\r\n", ":1\r\n", false},
	{"a long map", "%1000000000\r\n", ":1\r\n", false},
	{"a map whose elements overflow", "%4611686018427387904\r\n", ":1\r\n", false},
	{"a map of a negative length", "%-1\r\n", "", false},
	{"a long attribute", "|1000000000\r\n", ":1\r\n", false},
	{"a long push message", ">1000000000\r\n", ":1\r\n", false},
	{"lists in lists", "", "*1\r\n", false},
	{"long lists in lists", "", "*100000\r\n", false},
	{"attributes for ever", "", "|0\r\n", false},
	{"attributes with something in them for ever", "", "|1\r\n+a\r\n+b\r\n", false},
	{"push messages for ever", "", ">1\r\n+a\r\n", false},
	{"confirmations for ever", "", ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", false},
	{"confirmations of the end for ever", "", ">3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n", false},
	{"messages for ever", "", ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\na\r\n", false},
	{"messages of an old server for ever", "", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\na\r\n", false},
	{"a line without an end", "+", "xxxxxxxx", false},
	{"an error without an end", "-ERR ", "xxxxxxxx", false},
	{"a number without an end", ":", "11111111", false},
	{"a length without an end", "*", "11111111", false},
	{"replies that nobody asked for", "", ":1\r\n", true},
	{"statuses that nobody asked for", "", "+OK\r\n", true},
	{"queued", "", "+QUEUED\r\n", false},
	{"maps by what is no number", "", "%1\r\n,nan\r\n,nan\r\n", false},
	{"maps by lists", "", "%1\r\n*1\r\n:1\r\n:1\r\n", false},
	{"no number", ",nan\r\n", "", false},
	{"an odd end of nothing", "_\n+$9223372036854775807\r\n", "", false},
	{"texts in pieces for ever", "$?\r\n", ";3\r\nabc\r\n", false},
	{"a long piece", "$?\r\n;9223372036854775807\r\n", "x", false},
	{"lists in pieces for ever", "*?\r\n", ":1\r\n", false},
	{"another protocol", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "", false},
	{"nothing but zeros", "", "\x00\x00\x00\x00", false},
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

// hostileMemory is by how much the heap may grow while a server is hostile. A reply may take a MiB of it at the most;
// the rest is what a client reads and drops of what does not end, until it is collected.
const hostileMemory = 64 << 20

// A node may say anything, at any stage: it does not vote, and takes a bounded amount of memory. That nothing panics is
// tested by that the test goes on.
func hostileReplies(t *testing.T, a Adapter) {
	for _, from := range []Stage{Handshake, Replies} {
		for _, s := range Sayings {
			t.Run(string(from)+"/"+s.Name, func(t *testing.T) {
				node, end := a.Open(t, Config{}, Hostile(t, s, from))
				grown := heapGrows(t)
				for range 2 { // also over a connection that is there, and after one that broke
					if got := AcquireWithin(t, node[0], Short); got.Outcome == driver.Accepted && !s.IsYes {
						t.Errorf("it voted")
					}
				}
				if n := grown(); n > hostileMemory {
					t.Errorf("it takes %d MiB", n>>20)
				}
				if err := end(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// The connection on which a node publishes is one like the others.
func hostileSubscriptions(t *testing.T, a Adapter) {
	for _, from := range []Stage{Handshake, Subscription, Ends} {
		for _, s := range Sayings {
			t.Run(string(from)+"/"+s.Name, func(t *testing.T) {
				node, end := a.Open(t, Config{}, Hostile(t, s, from))
				grown := heapGrows(t)
				stopA := node[0].(driver.Listener).Listen("a", func() {})
				stopB := node[0].(driver.Listener).Listen("b", func() {})
				time.Sleep(hostileListening)
				stopB()
				time.Sleep(hostileListening)
				stopA()
				if n := grown(); n > hostileMemory {
					t.Errorf("it takes %d MiB", n>>20)
				}
				if err := end(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// hostileListening is for how long a node is listened to that is hostile.
const hostileListening = 30 * time.Millisecond

// One node of four, whatever it says, keeps nobody from the lock.
func hostileMinority(t *testing.T, a Adapter) {
	var addrs []string
	for range 3 {
		addrs = append(addrs, miniredis.RunT(t).Addr())
	}
	for _, s := range Sayings {
		t.Run(s.Name, func(t *testing.T) {
			client, end := a.client(t, Config{}, append(slices.Clip(addrs), Hostile(t, s, Replies)), redlock.WithWakeUp(time.Millisecond), redlock.WithNodeTimeout(time.Second))
			lease, err := client.TryLock(t.Context(), s.Name, time.Minute) // its own: a release may still be under way
			if err != nil {
				t.Fatal(err)
			}
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// heapGrows watches the heap, and grown says by how much it has grown at the most.
func heapGrows(t *testing.T) (grown func() uint64) {
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
