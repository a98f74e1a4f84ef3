package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// What an operation can be at most. Jepsen's are a few hundred bytes, with a stack trace in them some ten thousand.
const (
	maxSize  = 1 << 20 // bytes
	maxDepth = 100     // maps, vectors and tags inside each other
)

// usualParts is how many keys and values most operations have at most: type, process, f, value, time and index.
const usualParts = 12

type kind uint8

const (
	nothing kind = iota // nil, null
	text
	keyword // of EDN; the text is without the colon
	number
	word   // true, false, and what else EDN has without quotes
	list   // vector, list, set, array
	record // map, object: its parts are in turn keys and values
)

// datum is a piece of data: a text, or parts.
type datum struct {
	kind  kind
	text  string
	parts []datum
}

// scanner reads the operations of a history one by one.
//
// It is strict JSON, or the part of EDN in which Clojure prints data: no discards, metadata or quotes. Tags are read and
// dropped. Which of the two it is shows the first map: JSON has a colon behind its first key.
//
// It is our own because olympos.io/encoding/edn, the EDN library for Go, refuses what stands in Jepsen's files (ratios, regular
// expressions, ##NaN, the 0x1f of a printed object), accepts a field that is there twice, and names no line in its errors.
// JSON has the same scanner so that both formats have the same bounds, lines and errors.
type scanner struct {
	in     *bufio.Reader
	format Format // empty until it is known
	c      byte   // the next byte, 0 if there is none
	err    error  // why there is none: the end, or what is wrong
	last   byte   // the byte before
	line   int    // that c is on
	size   int    // of the operation so far

	// What a text or another token is put together in, and a text without its escapes. Both are used again for the next one.
	raw, plain []byte

	closer byte // of the vector the operations are in; 0 if none
	count  int
	over   bool
}

// encodings are beginnings of files that are no text in UTF-8, and what to do with them.
var encodings = []struct{ begins, is string }{
	{"\xff\xfe", utf16}, {"\xfe\xff", utf16}, {"{\x00", utf16}, {"\x00{", utf16}, {"[\x00", utf16}, {"\x00[", utf16},
	{"\x1f\x8b", "the file is compressed with gzip: zcat FILE | redlocksim check … -"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd: zstdcat FILE | redlocksim check … -"},
}

const utf16 = "the file is UTF-16; make it UTF-8: iconv -f UTF-16 -t UTF-8 FILE | redlocksim check … -"

// scan begins to read a history.
func scan(in io.Reader) (*scanner, error) {
	s := &scanner{in: bufio.NewReaderSize(in, 1<<16), line: 1}
	head, err := s.in.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, e := range encodings {
		if bytes.HasPrefix(head, []byte(e.begins)) {
			s.fail(ErrSyntax, "%s", e.is)
			return nil, s.err
		}
	}
	if marked := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, marked) {
		s.in.Discard(len(marked)) // is there
	}
	s.c, s.err = s.in.ReadByte()
	return s, nil
}

// fail stops the scanner with an error at this line.
func (s *scanner) fail(err error, format string, args ...any) {
	s.c, s.err = 0, &InputError{Line: s.line, Err: fmt.Errorf("%w: %s", err, fmt.Sprintf(format, args...))}
}

// needMore makes an error of the end of the history, where it comes too early.
func (s *scanner) needMore(what string) {
	if s.err == io.EOF {
		s.fail(ErrTruncated, "%s", what)
	}
}

const incomplete = "the last operation is not complete"

// skip goes on by a byte.
func (s *scanner) skip() {
	if s.err != nil {
		return
	}
	if s.last = s.c; s.c == '\n' {
		s.line++
	}
	if s.size++; s.size > maxSize {
		s.fail(ErrTooLarge, "an operation is longer than %d bytes", maxSize)
	} else if s.c, s.err = s.in.ReadByte(); s.err != nil {
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
		case c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == ',' && s.format != JSON:
			s.skip()
		case c == ';' && s.format != JSON:
			for s.err == nil && s.c != '\n' {
				s.skip()
			}
		default:
			return
		}
	}
}

// next reads an operation, and the line it begins on; nil after the last.
func (s *scanner) next() (*datum, int, error) {
	s.size = math.MinInt // of what lies between operations there may be any amount
	s.space()
	if s.count == 0 {
		s.begin()
	}
	if s.closer != 0 && !s.over {
		switch {
		case s.c == s.closer:
			s.over = true
			s.skip()
			s.space()
		case s.format == JSON && s.count > 0:
			s.punctuation(',', s.closer)
		}
		if !s.over {
			s.needMore(fmt.Sprintf("there is no %q", s.closer))
		}
	}
	switch {
	case s.over && s.err == nil:
		s.fail(ErrSyntax, "%q after the end of the vector", s.c)
	case s.over && s.count == 0:
		return nil, 1, &InputError{Line: 1, Err: fmt.Errorf("%w: there is nothing in it", ErrEmpty)}
	}
	if s.err == io.EOF {
		return nil, 0, nil
	}
	s.size = 0
	s.count++
	line := s.line
	d := s.datum(0)
	switch {
	case s.err != nil && s.err != io.EOF:
		return nil, 0, s.err
	case d.kind != record:
		return nil, 0, &InputError{Line: line, Err: fmt.Errorf("%w: a map is needed", ErrOperation)}
	}
	return &d, line, nil
}

// begin reads up to the first operation.
func (s *scanner) begin() {
	switch s.c {
	case '[':
		s.closer = ']'
	case '(':
		s.closer, s.format = ')', EDN
	case '{', '#':
		return
	default:
		if s.err == io.EOF {
			s.err = &InputError{Line: 1, Err: fmt.Errorf("%w: the file is empty", ErrEmpty)}
		} else if s.err == nil {
			s.fail(ErrSyntax, "%q is not how a history begins, as JSON Lines, EDN or JSON", s.c)
		}
		return
	}
	s.skip()
	s.space()
}

// datum reads one piece of data. It and what reads a collection call each other: data stands inside of data.
func (s *scanner) datum(depth int) datum {
	if depth > maxDepth {
		s.fail(ErrTooLarge, "more than %d levels inside each other", maxDepth)
	}
	s.space()
	s.needMore(incomplete)
	isEDN := s.format != JSON
	switch c := s.c; {
	case s.err != nil:
		return datum{}
	case c == '"':
		return s.quoted(false)
	case c == '{':
		return s.collection(record, '}', depth)
	case c == '[':
		return s.collection(list, ']', depth)
	case c == '(' && isEDN:
		return s.collection(list, ')', depth)
	case c == '#' && isEDN:
		return s.dispatch(depth)
	case c == '\\' && isEDN: // a character, which may be a delimiter
		s.skip()
		s.needMore(incomplete)
		first := s.c
		s.skip()
		return datum{kind: word, text: s.token(first)}
	}
	return s.atom()
}

// collection reads the data up to a closing bracket.
func (s *scanner) collection(of kind, closer byte, depth int) datum {
	d := datum{kind: of}
	if depth == 0 {
		d.parts = make([]datum, 0, usualParts)
	}
	s.skip()
	for {
		s.space()
		s.needMore(incomplete)
		isKey := of == record && len(d.parts)%2 == 0
		switch {
		case s.err != nil:
			return d
		case s.c == closer && of == record && !isKey:
			s.fail(ErrSyntax, "a key without a value")
			return d
		case s.c == closer:
			s.skip()
			return d
		case s.format == "" && of == record && !isKey:
			s.format = EDN
			if d.parts[0].kind == text && s.c == ':' {
				s.format = JSON
			}
		}
		if s.format == JSON && of == record && !isKey {
			s.punctuation(':', 0)
		} else if s.format == JSON && len(d.parts) > 0 {
			s.punctuation(',', closer)
		}
		if s.format == JSON && isKey && s.c != '"' && s.err == nil {
			s.fail(ErrSyntax, "%q instead of a name in quotes", s.c)
		}
		d.parts = append(d.parts, s.datum(depth+1))
	}
}

// punctuation reads what JSON has between two pieces of data.
func (s *scanner) punctuation(want, closer byte) {
	switch {
	case s.err != nil:
	case s.c == want:
		s.skip()
		s.space()
	case want == ':':
		s.fail(ErrSyntax, "%q instead of a colon", s.c)
	default:
		s.fail(ErrSyntax, "%q instead of a comma or %q", s.c, closer)
	}
}

// dispatch reads what begins with #: a set, a regular expression, a symbolic number, a reference, or tagged data.
func (s *scanner) dispatch(depth int) datum {
	s.skip()
	s.needMore(incomplete)
	switch c := s.c; {
	case c == '{':
		return s.collection(list, '}', depth)
	case c == '"':
		return s.quoted(true)
	case c == '#' || c == '\'':
		s.skip()
		return s.atom()
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		s.atom() // the tag
		return s.datum(depth + 1)
	case s.err == nil:
		s.fail(ErrSyntax, "\"#%c\" is not supported", c)
	}
	return datum{}
}

// int is the datum as an integer.
func (d *datum) int() (int64, error) {
	if d.kind != number {
		return 0, errors.New("not a number")
	}
	q, err := numberOf(d.text)
	switch {
	case err != nil:
		return 0, err
	case !q.BigInt().IsInt64():
		return 0, errors.New("too large a number")
	case !q.IsInteger():
		return 0, errors.New("not a whole number")
	}
	return q.IntPart(), nil
}
