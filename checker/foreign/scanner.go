package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// What an operation can be at most. Jepsen's are a few hundred bytes, with a stack trace in them some ten thousand.
const (
	maxSize  = 1 << 20 // bytes
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
	in   *bufio.Reader
	c    byte  // the next byte
	err  error // why there is none
	last byte  // the byte before
	line int   // that c is on
	size int   // of the operation so far
	json bool

	nodes []node
	text  []byte

	closer byte // of the vector the operations are in; 0 if none
	count  int
	over   bool
}

func newScanner(in io.Reader) *scanner {
	return &scanner{in: bufio.NewReaderSize(in, 1<<16), line: 1}
}

func (s *scanner) wrong(kind error, format string, args ...any) error {
	return &InputError{Line: s.line, Err: fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
}

// end is the error of a history that stops where it should not.
func (s *scanner) end(what string) error {
	if !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return s.wrong(ErrTruncated, "%s", what)
}

func (s *scanner) incomplete() error { return s.end("the last operation is not complete") }

func (s *scanner) checkSize() error {
	if s.size > maxSize {
		return s.wrong(ErrTooLarge, "an operation is longer than %d bytes", maxSize)
	}
	return nil
}

// skip goes on by a byte.
func (s *scanner) skip() {
	if s.last = s.c; s.c == '\n' {
		s.line++
	}
	s.size++
	if s.c, s.err = s.in.ReadByte(); s.err != nil {
		s.c = 0
	}
}

// lines is how many lines there are, at the end of the history: its last newline does not begin another.
func (s *scanner) lines() int {
	if s.last == '\n' {
		return s.line - 1
	}
	return s.line
}

// space skips what separates data; in EDN also commas and comments.
func (s *scanner) space() {
	for s.err == nil {
		switch c := s.c; {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == ',' && !s.json:
			s.skip()
		case c == ';' && !s.json:
			for s.err == nil && s.c != '\n' {
				s.skip()
			}
		default:
			return
		}
	}
}

// next reads an operation into nodes, and returns the line it begins on; false after the last.
func (s *scanner) next() (line int, ok bool, err error) {
	s.nodes, s.text = s.nodes[:0], s.text[:0]
	s.space()
	s.size = 0
	if s.err != nil {
		switch {
		case s.closer != 0 && !s.over:
			return 0, false, s.end(fmt.Sprintf("there is no %q", s.closer))
		case s.err != io.EOF:
			return 0, false, s.err
		}
		return 0, false, nil
	}
	switch c := s.c; {
	case s.over:
		return 0, false, s.wrong(ErrSyntax, "%q after the end of the vector", c)
	case s.count == 0 && s.closer == 0 && (c == '[' || c == '(' && !s.json):
		s.closer = map[byte]byte{'[': ']', '(': ')'}[c]
		s.skip()
		return s.next()
	case s.closer != 0 && c == s.closer:
		s.skip()
		s.over = true
		return s.next()
	case s.closer != 0 && s.json && s.count > 0:
		if c != ',' {
			return 0, false, s.wrong(ErrSyntax, "%q instead of a comma", c)
		}
		s.skip()
		if s.space(); s.err != nil {
			return 0, false, s.end("there is no ']'")
		}
	}
	line = s.line
	s.count++
	if err := s.datum(0); err != nil {
		return 0, false, err
	}
	if s.nodes[0].kind != record {
		return 0, false, &InputError{Line: line, Err: fmt.Errorf("%w: a map is needed", ErrOperation)}
	}
	return line, true, nil
}

// datum reads one piece of data. It and what reads a collection call each other: data stands inside of data.
func (s *scanner) datum(depth int) error {
	if depth > maxDepth {
		return s.wrong(ErrTooLarge, "more than %d levels inside each other", maxDepth)
	}
	if s.space(); s.err != nil {
		return s.incomplete()
	}
	if err := s.checkSize(); err != nil {
		return err
	}
	switch c := s.c; {
	case c == '"':
		return s.quoted(false)
	case c == '{':
		return s.collection(record, '}', depth)
	case c == '[':
		return s.collection(list, ']', depth)
	case c == '(' && !s.json:
		return s.collection(list, ')', depth)
	case c == '#' && !s.json:
		return s.dispatch(depth)
	case c == '\\' && !s.json: // a character, which may be a delimiter
		from := len(s.text)
		if s.skip(); s.err != nil {
			return s.incomplete()
		}
		s.text = append(s.text, s.c)
		s.skip()
		return s.token(word, from)
	}
	return s.atom()
}

// collection reads the data up to a closing bracket.
func (s *scanner) collection(kind nodeKind, closer byte, depth int) error {
	at := len(s.nodes)
	s.nodes = append(s.nodes, node{kind: kind})
	s.skip()
	for n := 0; ; n++ {
		isKey := kind == record && n%2 == 0
		switch s.space(); {
		case s.err != nil:
			return s.incomplete()
		case s.c == closer && kind == record && !isKey:
			return s.wrong(ErrSyntax, "a key without a value")
		case s.c == closer:
			s.skip()
			s.nodes[at].end = int32(len(s.nodes))
			return nil
		}
		if s.json {
			if err := s.punctuation(n, kind == record && !isKey, closer); err != nil {
				return err
			}
			if s.space(); isKey && s.err == nil && s.c != '"' {
				return s.wrong(ErrSyntax, "%q instead of a name in quotes", s.c)
			}
		}
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

// punctuation reads what JSON has before the n-th piece of data in a collection.
func (s *scanner) punctuation(n int, isValue bool, closer byte) error {
	switch {
	case n == 0:
		return nil
	case isValue && s.c != ':':
		return s.wrong(ErrSyntax, "%q instead of a colon", s.c)
	case !isValue && s.c != ',':
		return s.wrong(ErrSyntax, "%q instead of a comma or %q", s.c, closer)
	}
	s.skip()
	return nil
}

// dispatch reads what begins with #: a set, a regular expression, a symbolic number, a reference, or tagged data.
func (s *scanner) dispatch(depth int) error {
	s.skip()
	switch c := s.c; {
	case s.err != nil:
		return s.incomplete()
	case c == '{':
		return s.collection(list, '}', depth)
	case c == '"':
		return s.quoted(true)
	case c == '#' || c == '\'':
		s.skip()
		return s.atom()
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		nodes, text := len(s.nodes), len(s.text)
		if err := s.atom(); err != nil {
			return err
		}
		s.nodes, s.text = s.nodes[:nodes], s.text[:text]
		return s.datum(depth + 1)
	default:
		return s.wrong(ErrSyntax, "\"#%c\" is not supported", c)
	}
}

func (s *scanner) leaf(kind nodeKind, from int) {
	s.nodes = append(s.nodes, node{kind, int32(from), int32(len(s.text)), int32(len(s.nodes) + 1)})
}

// textOf is the text of a node; good until the next operation is read.
func (s *scanner) textOf(n *node) []byte { return s.text[n.from:n.to] }
