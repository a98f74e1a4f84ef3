//go:build unix

package adaptertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// Stub is a server that answers HELLO with an error, as an old redis-server does, and PING. To other commands it gives the
// replies in turn; at the next one it closes the connection, or stays silent.
func Stub(t *testing.T, silent bool, replies ...string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn, replies)
			if silent {
				<-end
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { close(end); _ = l.Close(); <-closed })
	return l.Addr().String()
}

// answer answers until there is no reply to a command, or no command.
func answer(conn net.Conn, replies []string) {
	for r := bufio.NewReader(conn); ; {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		var reply string
		switch strings.ToLower(words[0]) {
		case "hello":
			reply = "-ERR unknown command 'HELLO'"
		case "ping":
			reply = "+PONG"
		default:
			if len(replies) == 0 {
				return
			}
			reply, replies = replies[0], replies[1:]
		}
		_, _ = io.WriteString(conn, reply+"\r\n")
	}
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
