package wire

import (
	"bufio"
	"bytes"
	"slices"

	"github.com/alicebob/miniredis/v2/server"
)

// session is what a node knows of a client that has connected to it, as the version of RESP that it speaks.
type session struct {
	peer *server.Peer
	out  bytes.Buffer
}

func newSession() *session {
	s := &session{}
	s.peer = server.NewPeer(bufio.NewWriter(&s.out))
	return s
}

func (s *session) dispatch(to *server.Server, args []string) []byte {
	s.out.Reset()
	to.Dispatch(s.peer, args)
	s.peer.Flush()
	return slices.Clone(s.out.Bytes())
}
