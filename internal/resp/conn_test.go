package resp

import (
	"bytes"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
)

// script is a connection on which all was sent at once.
type script struct {
	net.Conn
	*strings.Reader
}

func (s script) Read(p []byte) (int, error) { return s.Reader.Read(p) }

func TestConn(t *testing.T) {
	c := Bound(script{nil, strings.NewReader("+OK\r\n*1000000000\r\n+OK\r\n")}, 1000)
	if Bound(c, 1) != c {
		t.Error("it is bound twice")
	}
	got, err := io.ReadAll(c)
	if string(got) != "+OK\r\n" || err == nil ||
		err.Error() != "the server announces or sends a list of 1000000000 elements, and a reply may take 1000 bytes in all" {
		t.Errorf("%q, %v", got, err)
	}
	if n, again := c.Read(make([]byte, 10)); n != 0 || again != err {
		t.Errorf("then %d, %v", n, again)
	}
}

// Who asks the system whether a connection is open, as go-redis does, can do so with a bound one, and only where it
// could before.
func TestConnOfTheSystem(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, is := Bound(c, 1000).(syscall.Conn); !is {
		t.Error("a TCP connection is none of the system's any more")
	}
	if _, is := Bound(script{}, 1000).(syscall.Conn); is {
		t.Error("a connection became one of the system's")
	}
}

func TestConnDoesNotAllocate(t *testing.T) {
	r := strings.NewReader("")
	c := Bound(script{nil, r}, 1000)
	p := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		r.Reset("*2\r\n:1\r\n$2\r\nab\r\n")
		if n, err := c.Read(p); err != nil || !bytes.HasSuffix(p[:n], []byte("ab\r\n")) {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a reply", n)
	}
}
