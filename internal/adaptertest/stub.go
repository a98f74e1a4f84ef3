//go:build unix

package adaptertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Server is a server of a test's own making: serve has each connection, which is closed when it returns. The connections that
// are left end with the test.
func Server(t testing.TB, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	var open []net.Conn
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, conn)
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		for _, conn := range open {
			_ = conn.Close()
		}
		serving.Wait()
	})
	return l.Addr().String()
}

// Answering serves commands, each by its words, until the reply to one is "" or the connection ends. It answers HELLO with an
// error, as an old redis-server does, and PING.
func Answering(reply func(words []string) string) func(net.Conn) {
	return func(conn net.Conn) {
		for r := bufio.NewReader(conn); ; {
			words, err := readCommand(r)
			if err != nil {
				return
			}
			var text string
			switch strings.ToLower(words[0]) {
			case "hello":
				text = "-ERR unknown command 'HELLO'\r\n"
			case "ping":
				text = "+PONG\r\n"
			default:
				text = reply(words)
			}
			if text == "" {
				return
			}
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// Stub is a server that gives the replies in turn, on each connection. At the next command it closes the connection, or stays
// silent.
func Stub(t *testing.T, silent bool, replies ...string) (addr string) {
	return Server(t, func(conn net.Conn) {
		left := replies
		Answering(func([]string) (reply string) {
			if len(left) == 0 {
				return ""
			}
			reply, left = left[0]+"\r\n", left[1:]
			return reply
		})(conn)
		if silent {
			_, _ = io.Copy(io.Discard, conn)
		}
	})
}

func readCommand(r *bufio.Reader) (words []string, err error) {
	var count int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &count); err != nil {
		return nil, err
	}
	for range count {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		word := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		words = append(words, string(word[:size]))
	}
	return words, nil
}
