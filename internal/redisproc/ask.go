//go:build unix

package redisproc

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Ask sends a command to a server, and nothing else, on a connection of its own, and returns the reply: a string, or the error
// that it is. go-redis would keep the connection, and shake hands on it first.
func Ask(addr string, args ...string) (string, error) {
	c, err := net.DialTimeout("tcp", addr, Patience)
	if err != nil {
		return "", err
	}
	defer Reset(c)
	if err := c.SetDeadline(time.Now().Add(Patience)); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return "", err
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", fmt.Errorf("%s was answered with an empty line", args[0])
	}
	switch line[0] {
	case '-':
		return "", fmt.Errorf("%s was answered with %q", args[0], line)
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return "", err
		}
		data := make([]byte, n)
		_, err = io.ReadFull(r, data)
		return string(data), err
	}
	return line[1:], nil
}

// Reset ends a TCP connection without a trace, so that its port can be bound again at once.
func Reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}
