package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// What an operation can be at most. Jepsen's are a few hundred bytes, with a stack trace in them some ten thousand.
const (
	maxSize  = 1 << 20 // bytes, with the white space before
	maxDepth = 100     // maps, vectors and tags inside each other
)

type nodeKind uint8

const (
	nothing nodeKind = iota // nil, null
	text
	keyword // of EDN; the text is without the colon
	number
	word   // true, false, and what else EDN has without quotes
	list   // vector, list, set, array
	record // map, object: key, value, key, value
)

// node is a piece of data. Those inside of it follow it directly, up to the node end.
type node struct {
	kind     nodeKind
	from, to int32 // its text, in scanner.text
	end      int32
}

// scanner reads the operations of a history one by one, each into nodes, and keeps none.
//
// It is strict JSON, or the part of EDN in which Clojure prints data: no discards, metadata or quotes. Tags are read and
// dropped. Data that is no field of an operation is checked and skipped, so that errors and stack traces may be in it.
//
// It is our own because olympos.io/encoding/edn, the EDN library for Go, refuses what stands in Jepsen's files (ratios, regular
// expressions, ##NaN, the 0x1f of a printed object), accepts a field that is there twice, and names no line in its errors.
// JSON has the same scanner so that both formats have the same bounds, lines and errors.
type scanner struct {
	in     io.Reader
	err    error // of in; io.EOF at its end
	buf    []byte
	at, n  int
	before int64 // bytes before buf
	line   int
	json   bool
	// newline says whether the bytes before buf ended with one.
	newline bool

	begun int64 // offset at which the operation began
	nodes []node
	text  []byte

	closer byte // of the vector the operations are in; 0 if none
	count  int
	over   bool
}

func newScanner(in io.Reader) *scanner {
	return &scanner{in: in, buf: make([]byte, 1<<16), line: 1}
}

func (s *scanner) wrong(kind error, format string, args ...any) error {
	return &InputError{Line: s.line, Err: fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
}

// more makes sure that there is a byte to look at. Without one, the error says why.
func (s *scanner) more() bool {
	if s.at < s.n {
		return true
	}
	if s.err != nil {
		return false
	}
	if s.n > 0 {
		s.newline = s.buf[s.n-1] == '\n'
	}
	s.before += int64(s.n)
	s.at, s.n = 0, 0
	for tries := 0; s.err == nil && s.n == 0; tries++ {
		s.n, s.err = s.in.Read(s.buf)
		if s.n == 0 && s.err == nil && tries == 100 {
			s.err = io.ErrNoProgress
		}
	}
	return s.n > 0
}

// end is the error of a history that stops where it should not.
func (s *scanner) end(what string) error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return s.wrong(ErrTruncated, "%s", what)
}

// lines is how many lines there are, at the end of the history: its last newline does not begin another.
func (s *scanner) lines() int {
	if s.n > 0 && s.buf[s.n-1] == '\n' || s.n == 0 && s.newline {
		return s.line - 1
	}
	return s.line
}

func (s *scanner) checkSize() error {
	if s.before+int64(s.at)-s.begun > maxSize {
		return s.wrong(ErrTooLarge, "an operation is longer than %d bytes", maxSize)
	}
	return nil
}

// rest is everything that has not been scanned.
func (s *scanner) rest() io.Reader {
	left := bytes.NewReader(s.buf[s.at:s.n])
	if s.err != nil {
		return io.MultiReader(left, errReader{s.err})
	}
	return io.MultiReader(left, s.in)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// space skips what separates data; in EDN also commas and comments.
func (s *scanner) space() error {
	for s.more() {
		switch c := s.buf[s.at]; {
		case c == '\n':
			s.line++
		case c == ' ' || c == '\t' || c == '\r' || c == ',' && !s.json:
		case c == ';' && !s.json:
			if err := s.comment(); err != nil {
				return err
			}
			continue
		default:
			return nil
		}
		s.at++
	}
	return nil
}

func (s *scanner) comment() error {
	from := len(s.text)
	for s.more() && s.buf[s.at] != '\n' {
		s.text = append(s.text, s.buf[s.at])
		s.at++
		if len(s.text)-from > maxSize {
			return s.wrong(ErrTooLarge, "a comment is longer than %d bytes", maxSize)
		}
	}
	if !utf8.Valid(s.text[from:]) {
		return s.wrong(ErrSyntax, "not UTF-8")
	}
	s.text = s.text[:from]
	return nil
}

func (s *scanner) open(kind nodeKind) (at int) {
	s.nodes = append(s.nodes, node{kind: kind})
	return len(s.nodes) - 1
}

func (s *scanner) close(at int) { s.nodes[at].end = int32(len(s.nodes)) }

func (s *scanner) leaf(kind nodeKind, from int) {
	s.nodes = append(s.nodes, node{kind, int32(from), int32(len(s.text)), int32(len(s.nodes) + 1)})
}

// textOf is the text of a node; good until the next operation is read.
func (s *scanner) textOf(n *node) []byte { return s.text[n.from:n.to] }
