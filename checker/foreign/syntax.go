package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
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

// next reads an operation into nodes, and returns the line it begins on; false after the last.
func (s *scanner) next() (line int, ok bool, err error) {
	s.nodes, s.text = s.nodes[:0], s.text[:0]
	if err := s.space(); err != nil {
		return 0, false, err
	}
	s.begun = s.before + int64(s.at)
	if !s.more() {
		switch {
		case s.closer != 0 && !s.over:
			return 0, false, s.end(fmt.Sprintf("there is no %q", s.closer))
		case s.err != io.EOF:
			return 0, false, s.err
		}
		return 0, false, nil
	}
	c := s.buf[s.at]
	switch {
	case s.over:
		return 0, false, s.wrong(ErrSyntax, "%q after the end of the vector", c)
	case s.count == 0 && s.closer == 0 && (c == '[' || c == '(' && !s.json):
		s.closer = map[byte]byte{'[': ']', '(': ')'}[c]
		s.at++
		return s.next()
	case s.closer != 0 && c == s.closer:
		s.at++
		s.over = true
		return s.next()
	case s.closer != 0 && s.json && s.count > 0:
		if c != ',' {
			return 0, false, s.wrong(ErrSyntax, "%q instead of a comma", c)
		}
		s.at++
		if err := s.space(); err != nil {
			return 0, false, err
		}
		if !s.more() {
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

// datum reads one piece of data.
func (s *scanner) datum(depth int) error {
	if depth > maxDepth {
		return s.wrong(ErrTooLarge, "more than %d levels inside each other", maxDepth)
	}
	if err := s.space(); err != nil {
		return err
	}
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	if err := s.checkSize(); err != nil {
		return err
	}
	switch c := s.buf[s.at]; {
	case c == '"':
		return s.quoted(false)
	case c == '{' && s.json:
		return s.object(depth)
	case c == '[' && s.json:
		return s.array(depth)
	case c == '{':
		return s.collection(record, '}', depth)
	case c == '[':
		return s.collection(list, ']', depth)
	case c == '(' && !s.json:
		return s.collection(list, ')', depth)
	case c == '#' && !s.json:
		return s.dispatch(depth)
	case c == '\\' && !s.json:
		return s.character()
	default:
		return s.atom()
	}
}

func (s *scanner) open(kind nodeKind) (at int) {
	s.nodes = append(s.nodes, node{kind: kind})
	return len(s.nodes) - 1
}

func (s *scanner) close(at int) { s.nodes[at].end = int32(len(s.nodes)) }

func (s *scanner) collection(kind nodeKind, closer byte, depth int) error {
	at := s.open(kind)
	s.at++
	for n := 0; ; n++ {
		if err := s.space(); err != nil {
			return err
		}
		if s.more() && s.buf[s.at] == closer {
			s.at++
			if kind == record && n%2 == 1 {
				return s.wrong(ErrSyntax, "a key without a value")
			}
			s.close(at)
			return nil
		}
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

func (s *scanner) array(depth int) error {
	at := s.open(list)
	s.at++
	for n := 0; ; n++ {
		done, err := s.separator(']', n)
		if err != nil {
			return err
		}
		if done {
			s.close(at)
			return nil
		}
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

func (s *scanner) object(depth int) error {
	at := s.open(record)
	s.at++
	for n := 0; ; n++ {
		done, err := s.separator('}', n)
		if err != nil {
			return err
		}
		if done {
			s.close(at)
			return nil
		}
		if err := s.expect('"', "a name in quotes"); err != nil {
			return err
		}
		if err := s.quoted(false); err != nil {
			return err
		}
		if err := s.expect(':', "a colon"); err != nil {
			return err
		}
		s.at++
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

// separator reads the comma before the n-th member, or the end.
func (s *scanner) separator(closer byte, n int) (done bool, err error) {
	if err := s.space(); err != nil {
		return false, err
	}
	switch {
	case !s.more():
		return false, s.end("the last operation is not complete")
	case s.buf[s.at] == closer:
		s.at++
		return true, nil
	case n == 0:
		return false, nil
	case s.buf[s.at] != ',':
		return false, s.wrong(ErrSyntax, "%q instead of a comma or %q", s.buf[s.at], closer)
	}
	s.at++
	return false, nil
}

func (s *scanner) expect(c byte, what string) error {
	if err := s.space(); err != nil {
		return err
	}
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	if s.buf[s.at] != c {
		return s.wrong(ErrSyntax, "%q instead of %s", s.buf[s.at], what)
	}
	return nil
}

// dispatch reads what begins with #: a set, a regular expression, a symbolic number, a reference, or tagged data.
func (s *scanner) dispatch(depth int) error {
	s.at++
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	switch c := s.buf[s.at]; {
	case c == '{':
		return s.collection(list, '}', depth)
	case c == '"':
		return s.quoted(true)
	case c == '#' || c == '\'':
		s.at++
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

// quoted reads a string; raw leaves escapes as they are.
func (s *scanner) quoted(raw bool) error {
	from := len(s.text)
	s.at++
	var any byte
	for s.more() {
		c := s.buf[s.at]
		s.at++
		switch {
		case c == '"':
			if any >= utf8.RuneSelf && !utf8.Valid(s.text[from:]) {
				return s.wrong(ErrSyntax, "not UTF-8")
			}
			s.leaf(text, from)
			return nil
		case c == '\\' && raw:
			s.text = append(s.text, c)
			if s.more() {
				s.text = append(s.text, s.buf[s.at])
				any |= s.buf[s.at]
				s.at++
			}
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c == '\n' && !s.json:
			s.line++
			s.text = append(s.text, c)
		case c < ' ' && s.json:
			return s.wrong(ErrSyntax, "a control character in a text")
		default:
			any |= c
			s.text = append(s.text, c)
		}
		if len(s.text) > maxSize {
			return s.checkSize()
		}
	}
	return s.end("the last operation is not complete")
}

func (s *scanner) escape() error {
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	c := s.buf[s.at]
	s.at++
	switch c {
	case '"', '\\':
	case '/':
		if !s.json {
			return s.wrong(ErrSyntax, "no such escape: \\/")
		}
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return s.unicode()
	default:
		return s.wrong(ErrSyntax, "no such escape: \\%c", c)
	}
	s.text = append(s.text, c)
	return nil
}

func (s *scanner) unicode() error {
	r, err := s.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		for _, c := range [...]byte{'\\', 'u'} {
			if !s.more() || s.buf[s.at] != c {
				return s.wrong(ErrSyntax, "half a character: \\u%04x", r)
			}
			s.at++
		}
		low, err := s.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return s.wrong(ErrSyntax, "half a character: \\u%04x", low)
		}
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

func (s *scanner) hex() (rune, error) {
	var digits [4]byte
	for i := range digits {
		if !s.more() {
			return 0, s.end("the last operation is not complete")
		}
		digits[i] = s.buf[s.at]
		s.at++
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, s.wrong(ErrSyntax, "\\u%q is no character", digits[:])
	}
	return rune(n), nil
}

func (s *scanner) leaf(kind nodeKind, from int) {
	s.nodes = append(s.nodes, node{kind, int32(from), int32(len(s.text)), int32(len(s.nodes) + 1)})
}

func (s *scanner) character() error {
	from := len(s.text)
	s.at++
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	// The character itself may be a delimiter.
	s.text = append(s.text, s.buf[s.at])
	if s.buf[s.at] == '\n' {
		s.line++
	}
	s.at++
	return s.token(word, from)
}

// token reads on to the next delimiter.
func (s *scanner) token(kind nodeKind, from int) error {
	var any byte
	for s.more() && !s.delimits(s.buf[s.at]) {
		any |= s.buf[s.at]
		s.text = append(s.text, s.buf[s.at])
		s.at++
		if len(s.text) > maxSize {
			if err := s.checkSize(); err != nil {
				return err
			}
		}
	}
	if any >= utf8.RuneSelf || kind == word {
		if !utf8.Valid(s.text[from:]) {
			return s.wrong(ErrSyntax, "not UTF-8")
		}
	}
	s.leaf(kind, from)
	return nil
}

func (s *scanner) delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', '(', ')', '[', ']', '{', '}', '"':
		return true
	case ';':
		return !s.json
	case ':':
		return s.json
	}
	return false
}

// atom reads a number, a keyword, or a word.
func (s *scanner) atom() error {
	from := len(s.text)
	if err := s.token(word, from); err != nil {
		return err
	}
	t, n := s.text[from:], &s.nodes[len(s.nodes)-1]
	digits := t
	if len(t) > 1 && (t[0] == '-' || t[0] == '+' && !s.json) {
		digits = t[1:]
	}
	switch {
	case len(t) == 0 && !s.more():
		return s.end("the last operation is not complete")
	case len(t) == 0:
		return s.wrong(ErrSyntax, "%q where data should be", s.buf[s.at])
	case '0' <= digits[0] && digits[0] <= '9':
		n.kind = number
		if !isNumber(digits, s.json) {
			return s.wrong(ErrSyntax, "%.40q is no number", t)
		}
	case s.json:
		switch string(t) {
		case "null":
			n.kind = nothing
		case "true", "false":
		default:
			return s.wrong(ErrSyntax, "%.40q is not JSON", t)
		}
	case t[0] == ':':
		if len(t) == 1 {
			return s.wrong(ErrSyntax, "a colon where data should be")
		}
		n.kind = keyword
		n.from++
	case string(t) == "nil":
		n.kind = nothing
	default:
		for _, c := range t {
			if c < ' ' || c == 0x7f || c == '`' || c == '~' || c == '@' || c == '^' {
				return s.wrong(ErrSyntax, "%.40q is not EDN", t)
			}
		}
	}
	return nil
}

// isNumber reports whether t, without a sign, is a number: of JSON, or what Clojure prints, with N, M, ratios and the
// hexadecimal numbers in which objects print their identity.
func isNumber(t []byte, json bool) bool {
	run := func() int {
		n := 0
		for n < len(t) && '0' <= t[n] && t[n] <= '9' {
			n++
		}
		t = t[n:]
		return n
	}
	if !json && len(t) > 2 && t[0] == '0' && t[1] == 'x' {
		_, err := strconv.ParseUint(string(t[2:]), 16, 64)
		return err == nil
	}
	zero := t[0] == '0'
	if n := run(); zero && n > 1 {
		return false
	}
	if !json && len(t) > 0 {
		switch {
		case string(t) == "N" || string(t) == "M":
			return true
		case t[0] == '/':
			t = t[1:]
			return run() > 0 && len(t) == 0
		}
	}
	if len(t) > 0 && t[0] == '.' {
		t = t[1:]
		if run() == 0 {
			return false
		}
	}
	if len(t) > 0 && (t[0] == 'e' || t[0] == 'E') {
		t = t[1:]
		if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
			t = t[1:]
		}
		if run() == 0 {
			return false
		}
	}
	return len(t) == 0 || !json && string(t) == "M"
}

// textOf is the text of a node; good until the next operation is read.
func (s *scanner) textOf(n *node) []byte { return s.text[n.from:n.to] }

// int is the node as an integer.
func (s *scanner) int(n *node) (int64, error) {
	t := s.textOf(n)
	if n.kind != number {
		return 0, errors.New("not a number")
	}
	if l := len(t); l > 0 && t[l-1] == 'N' {
		t = t[:l-1]
	}
	i, err := strconv.ParseInt(string(t), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("too large a number")
	}
	if err != nil {
		return 0, errors.New("not a whole number")
	}
	return i, nil
}
