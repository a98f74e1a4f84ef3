package wire

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/alicebob/miniredis/v2/proto"

	"redlocksim/internal/rediscmd"
)

// parse reads one command from the front of b: an array of bulk strings. size is its length in bytes; 0 if b ends before the
// command does. The client is ours, so anything else is a mistake in this package.
func parse(b []byte) (args []string, size int) {
	rest := b
	n, ok := length(&rest, '*')
	if !ok {
		return nil, 0
	}
	args = make([]string, 0, n)
	for range n {
		l, ok := length(&rest, '$')
		if !ok || len(rest) < l+2 {
			return nil, 0
		}
		if rest[l] != '\r' || rest[l+1] != '\n' {
			panic(fmt.Sprintf("wire: no end of line after a bulk string: %q", b))
		}
		args = append(args, string(rest[:l]))
		rest = rest[l+2:]
	}
	return args, len(b) - len(rest)
}

// length takes a line of a type byte and a number off b, unless b ends before the line does.
func length(b *[]byte, kind byte) (n int, ok bool) {
	line, rest, ok := bytes.Cut(*b, []byte("\r\n"))
	if len(line) > 0 && line[0] != kind {
		panic(fmt.Sprintf("wire: not a command: want %q, got %q", kind, *b))
	}
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	if err != nil || n < 0 {
		panic(fmt.Sprintf("wire: not a length: %q", line))
	}
	*b = rest
	return n, true
}

// pushed is what the node sends by itself.
func (s *session) pushed(parts ...string) []byte {
	if s.peer.Resp3 {
		return []byte(proto.Push(parts...))
	}
	return []byte(proto.Array(parts...))
}

// encoded is a reply of a script, or of a node that is asked by bytes; null is how its connection has nothing.
func encoded(reply any, null string) string {
	switch r := reply.(type) {
	case int64:
		return proto.Int(int(r))
	case string:
		return proto.String(r)
	case rediscmd.Status:
		return proto.Inline(string(r))
	case rediscmd.ServerError:
		return proto.Error(string(r))
	case []any:
		all := make([]string, len(r))
		for i, e := range r {
			all[i] = encoded(e, null)
		}
		return proto.Array(all...)
	}
	return null
}
