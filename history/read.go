package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode reads what [Encode] writes, up to the end of r, as a [Reader] does. The history is nil unless the error is.
func Decode(r io.Reader) (History, error) {
	in := NewReader(r)
	var h History
	for {
		var e Event
		switch err := in.Next(&e); {
		case err == io.EOF:
			return h, nil
		case err != nil:
			return nil, err
		}
		h = append(h, e)
	}
}

// maxTexts bounds the texts that a Reader keeps to have each in memory once. Most come again; those that do not, as
// details, must not fill the memory twice.
const maxTexts = 100_000

// Reader reads the file format of histories event by event, and keeps none.
//
// Inside a line, order and white space are free and fields may be zero; everything else that [Encode] does not write is
// refused: a field that is unknown, repeated, spelled in other case or of another type, half a surrogate pair, a line
// that is no object or holds more than one, an empty line, a last line without its newline, a line over 1 MiB, no
// line at all, and whatever [History.Validate] refuses.
type Reader struct {
	in    *bufio.Reader
	lines int
	time  int64 // of the event before
	texts map[string]string

	line []byte // what is left of it
	text []byte // the last text with escapes in it
}

// NewReader returns a Reader of in, which it reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, maxLine), texts: map[string]string{}}
}

// Next reads the next event into e. It returns [io.EOF] after the last, an [*InvalidError] for the first line that is
// refused, and an error of the underlying reader as it is; after any of them, e means nothing and there is no next.
func (r *Reader) Next(e *Event) error {
	line, err := r.in.ReadSlice('\n')
	r.lines++
	switch {
	case err == io.EOF && len(line) == 0 && r.lines > 1:
		return io.EOF
	case err == io.EOF && len(line) == 0:
		err = ErrEmpty
	case err == io.EOF:
		err = ErrTruncated
	case errors.Is(err, bufio.ErrBufferFull):
		err = ErrTooLong
	case err != nil:
		return err
	default:
		*e = Event{}
		r.line = line
		if err = r.object(e); err != nil {
			err = fmt.Errorf("%w: %w", ErrLine, err)
		} else {
			err = e.validate(r.lines, r.time)
		}
		r.time = e.Time
	}
	if err != nil {
		return &InvalidError{Line: r.lines, Err: err}
	}
	return nil
}

// object reads the line. encoding/json would take repeated names, names in other case, null, and text that is not UTF-8,
// and takes ten times as long, which counts with a million operations.
func (r *Reader) object(e *Event) error {
	if !utf8.Valid(r.line) {
		return errors.New("not UTF-8")
	}
	if !r.skip('{') {
		return errors.New("no JSON object")
	}
	var seen fieldSet
	for done := r.skip('}'); !done; {
		name, err := r.quoted()
		if err != nil {
			return err
		}
		f, known := fieldOf(name)
		if !known {
			return fmt.Errorf("field %.40q: unknown", name)
		}
		if !r.skip(':') {
			return fmt.Errorf("field %q: no colon", f)
		}
		if seen.has(f) {
			return fmt.Errorf("field %q: twice", f)
		}
		seen.add(f)
		if err := r.value(e, f); err != nil {
			return fmt.Errorf("field %q: %w", f, err)
		}
		if done = r.skip('}'); !done && !r.skip(',') {
			return errors.New("neither a comma nor the end of the object")
		}
	}
	if r.space(); len(r.line) > 0 {
		return errors.New("more than one object")
	}
	for _, f := range [...]field{fieldSeq, fieldTime, fieldKind} {
		if !seen.has(f) {
			return fmt.Errorf("field %q is missing", f)
		}
	}
	return nil
}

// field is a name of the format.
type field uint8

const (
	fieldSeq field = iota
	fieldTime
	fieldOp
	fieldGrant
	fieldNumber
	fieldSpan
	fieldToken
	fieldWith
	fieldBasis
	// From here on they are texts.
	fieldKind
	fieldProcess
	fieldFunc
	fieldResource
	fieldOutcome
	fieldName
	fieldNode
	fieldDetail
)

var fieldNames = [...]string{"seq", "t", "op", "grant", "number", "span", "token", "with", "basis",
	"kind", "process", "f", "resource", "outcome", "name", "node", "detail"}

func (f field) String() string { return fieldNames[f] }

func fieldOf(name []byte) (field, bool) {
	for f, n := range fieldNames {
		if string(name) == n {
			return field(f), true
		}
	}
	return 0, false
}

type fieldSet uint32

func (s fieldSet) has(f field) bool { return s&(1<<f) != 0 }

func (s *fieldSet) add(f field) { *s |= 1 << f }

func (r *Reader) value(e *Event, f field) error {
	if f >= fieldKind {
		if r.space(); len(r.line) == 0 || r.line[0] != '"' {
			return errors.New("not a text")
		}
		t, err := r.quoted()
		if err != nil {
			return err
		}
		e.set(f, 0, r.intern(t))
		return nil
	}
	n, err := r.number()
	if err != nil {
		return err
	}
	if (f == fieldSeq || f == fieldOp || f == fieldGrant || f == fieldWith || f == fieldBasis) && int64(int(n)) != n {
		return errors.New("too large a number")
	}
	e.set(f, n, "")
	return nil
}

// set sets a field to the number or the text, whichever it takes.
func (e *Event) set(f field, number int64, text string) {
	switch f {
	case fieldSeq:
		e.Seq = int(number)
	case fieldTime:
		e.Time = number
	case fieldOp:
		e.Op = int(number)
	case fieldGrant:
		e.Grant = int(number)
	case fieldNumber:
		e.Number = number
	case fieldSpan:
		e.Span = number
	case fieldToken:
		e.Token = number
	case fieldWith:
		e.With = int(number)
	case fieldBasis:
		e.Basis = int(number)
	case fieldKind:
		e.Kind = Kind(text)
	case fieldProcess:
		e.Process = text
	case fieldFunc:
		e.Func = Func(text)
	case fieldResource:
		e.Resource = text
	case fieldOutcome:
		e.Outcome = Outcome(text)
	case fieldName:
		e.Name = text
	case fieldNode:
		e.Node = text
	case fieldDetail:
		e.Detail = text
	}
}

func (r *Reader) intern(text []byte) string {
	t, ok := r.texts[string(text)]
	if !ok {
		t = string(text)
		if len(r.texts) < maxTexts {
			r.texts[t] = t
		}
	}
	return t
}

// space skips white space.
func (r *Reader) space() {
	for len(r.line) > 0 && (r.line[0] == ' ' || r.line[0] == '\t' || r.line[0] == '\r' || r.line[0] == '\n') {
		r.line = r.line[1:]
	}
}

// skip skips white space and c, and reports whether there was a c.
func (r *Reader) skip(c byte) bool {
	r.space()
	if len(r.line) == 0 || r.line[0] != c {
		return false
	}
	r.line = r.line[1:]
	return true
}

// number reads an integer.
func (r *Reader) number() (int64, error) {
	r.space()
	negative := len(r.line) > 0 && r.line[0] == '-'
	if negative {
		r.line = r.line[1:]
	}
	digits := 0
	for digits < len(r.line) && '0' <= r.line[digits] && r.line[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 1 && r.line[0] == '0' {
		return 0, errors.New("not a number")
	}
	most := uint64(math.MaxInt64)
	if negative {
		most++
	}
	var n uint64
	for _, c := range r.line[:digits] {
		d := uint64(c - '0')
		if n > (most-d)/10 {
			return 0, errors.New("too large a number")
		}
		n = n*10 + d
	}
	r.line = r.line[digits:]
	if len(r.line) > 0 && (r.line[0] == '.' || r.line[0] == 'e' || r.line[0] == 'E') {
		return 0, errors.New("not a whole number")
	}
	if negative {
		return int64(-n), nil
	}
	return int64(n), nil
}

var errNoEnd = errors.New("a text without an end")

// quoted reads a text; what it returns is good until the next.
func (r *Reader) quoted() ([]byte, error) {
	if !r.skip('"') {
		return nil, errors.New("no text in quotes")
	}
	for i, c := range r.line {
		switch {
		case c == '"':
			t := r.line[:i]
			r.line = r.line[i+1:]
			return t, nil
		case c == '\\':
			r.text = append(r.text[:0], r.line[:i]...)
			r.line = r.line[i:]
			return r.escaped()
		case c < ' ':
			return nil, errors.New("a control character in a text")
		}
	}
	return nil, errNoEnd
}

// escaped reads a text on from its first escape.
func (r *Reader) escaped() ([]byte, error) {
	for len(r.line) > 0 {
		c := r.line[0]
		r.line = r.line[1:]
		switch {
		case c == '"':
			return r.text, nil
		case c == '\\':
			if err := r.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, errors.New("a control character in a text")
		default:
			r.text = append(r.text, c)
		}
	}
	return nil, errNoEnd
}

func (r *Reader) escape() error {
	if len(r.line) == 0 {
		return errNoEnd
	}
	c := r.line[0]
	r.line = r.line[1:]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return r.unicode()
	default:
		return fmt.Errorf("no such escape: \\%c", c)
	}
	r.text = append(r.text, c)
	return nil
}

func (r *Reader) unicode() error {
	c, err := r.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(c) {
		half := fmt.Errorf("half a character: \\u%04x", c)
		if len(r.line) < 2 || r.line[0] != '\\' || r.line[1] != 'u' {
			return half
		}
		r.line = r.line[2:]
		low, err := r.hex()
		if err != nil {
			return err
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return half
		}
	}
	r.text = utf8.AppendRune(r.text, c)
	return nil
}

func (r *Reader) hex() (rune, error) {
	if len(r.line) < 4 {
		return 0, errNoEnd
	}
	var n rune
	for _, c := range r.line[:4] {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, fmt.Errorf("\\u%q is no character", r.line[:4])
		}
	}
	r.line = r.line[4:]
	return n, nil
}
