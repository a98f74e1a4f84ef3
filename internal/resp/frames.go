package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

const (
	// element is what an announced element of a list costs, in bytes: client libraries take the memory for all of them
	// at once.
	element = 64
	// maxDepth is how deep lists may be nested. The deepest that Redis sends, its description of commands, has about
	// ten levels.
	maxDepth = 32
	// maxNumber is how long a line may be that is no text: a type, a number or a length, and the end.
	maxNumber = 64
)

// kinds are the types by which replies and their elements begin.
var kinds = [256]bool{'+': true, '-': true, ':': true, ',': true, '(': true, '_': true, '#': true, '$': true, '!': true, '=': true,
	'*': true, '~': true, '>': true, '%': true, '|': true}

// frames follows the replies of a server, in RESP2 or RESP3, and refuses one that is too large or that no server sends.
// Lines must be exactly as Redis writes them: what a client library reads leniently it could otherwise take for another
// reply than this does.
type frames struct {
	limit int // what one reply may cost
	left  int // of that, for the reply under way

	skip  int             // bytes to come of a text whose length was announced, with its end
	begun int             // bytes of a line whose end is to come
	line  [maxNumber]byte // the first of these
	last  byte            // the last of these

	depth int
	open  [maxDepth]list

	ended    func(*Frame) error // is told of each reply, or command, before its last bytes are read; nil if nobody is
	frame    Frame              // the one under way, if somebody is
	copies   int                // bytes to come of its text
	textRoom [textBytes]byte
}

// textBytes is how much of a text a Frame has.
const textBytes = 16

// Frame is a reply, or a command.
type Frame struct {
	Kind     byte // the type by which it begins, as '*'
	Elements int  // of a list, keys and values of a map apart
	Of       byte // of a list, the type of the first element
	Next     byte // of a list, by what the second element begins, if that is a text of announced length
	// Text is the first element of a list, if that is a text, or the text of what is one, up to 16 bytes of it.
	Text []byte
}

// list is a list of which elements are to come.
type list struct {
	left        int
	isAttribute bool // it stands before a reply, and is not one
}

func newFrames(limit int) frames { return frames{limit: limit, left: limit} }

// take follows the next bytes. If they have something in them that is refused, the error says what, and good is how
// many bytes come before the line that has it.
func (f *frames) take(p []byte) (good int, err error) {
	for at := 0; at < len(p); {
		n := min(f.skip, len(p)-at)
		if n == 0 {
			if n, err = f.takeLine(p[at:]); err != nil {
				return at, err
			}
		} else {
			f.copy(p[at : at+n])
			if f.skip -= n; f.skip == 0 {
				if err := f.end(); err != nil {
					return at, err
				}
			}
		}
		at += n
	}
	return len(p), nil
}

// takeLine takes what there is of a line, and says how much that is.
func (f *frames) takeLine(p []byte) (n int, err error) {
	n = bytes.IndexByte(p, '\n') + 1
	isWhole := n > 0
	if !isWhole {
		n = len(p)
	}
	if f.left -= n; f.left < 0 {
		return n, f.tooLarge("a longer line")
	}
	kind, line := p[0], p[:n]
	if f.begun > 0 {
		kind = f.line[0]
	}
	isText := kind == '+' || kind == '-'
	if !kinds[kind] || !isText && f.begun+n > maxNumber {
		return n, noReply(f.join(line))
	}
	if !isWhole {
		copy(f.line[min(f.begun, maxNumber):], line)
		f.begun += n
		f.last = p[n-1]
		return n, nil
	}
	beforeEnd := f.last
	if n > 1 {
		beforeEnd = line[n-2]
	}
	line = f.join(line)
	if f.begun = 0; beforeEnd != '\r' {
		return n, noReply(line)
	}
	f.note(kind, line)
	if isText {
		return n, f.end()
	}
	return n, f.takeHead(kind, line)
}

// join is a line that may have begun before. Of a text that has, it is only a part.
func (f *frames) join(line []byte) []byte {
	if f.begun == 0 {
		return line
	}
	kept := min(f.begun, maxNumber)
	return f.line[:kept+copy(f.line[kept:], line)]
}

// note notes of a line what somebody is told of a frame.
func (f *frames) note(kind byte, line []byte) {
	switch {
	case f.ended == nil:
		return
	case f.depth == 0 && kind != '|':
		f.frame = Frame{Kind: kind}
	case f.depth == 1 && f.frame.Of == 0:
		f.frame.Of = kind
	default:
		return
	}
	if kind == '+' || kind == '-' {
		text := line[1:]
		f.frame.Text = append(f.textRoom[:0], text[:min(len(text)-len("\r\n"), textBytes)]...)
	}
}

// copy keeps what is told of a text.
func (f *frames) copy(p []byte) {
	if f.depth == 1 && f.frame.Next == 0 && f.open[0].left == f.frame.Elements-1 {
		f.frame.Next = p[0]
	}
	if f.copies > 0 {
		n := min(f.copies, len(p))
		f.frame.Text = append(f.frame.Text, p[:n]...)
		f.copies -= n
	}
}

// takeHead takes a whole line that is no text.
func (f *frames) takeHead(kind byte, line []byte) error {
	value := line[1 : len(line)-2]
	switch kind {
	case ':', ',', '(':
		return f.end()
	case '_', '#':
		if len(value) > 1 || kind == '_' != (len(value) == 0) {
			return noReply(line)
		}
		return f.end()
	}
	if string(value) == "-1" && (kind == '$' || kind == '*') {
		return f.end()
	}
	n, ok := number(value)
	switch {
	case !ok:
		return noReply(line)
	case kind == '$' || kind == '!' || kind == '=':
		if n > f.left {
			return f.tooLarge(fmt.Sprintf("a text of %s bytes", value))
		}
		f.left -= n
		f.skip = n + len("\r\n")
		if f.ended != nil && f.frame.Text == nil && (f.depth == 0 || f.depth == 1 && f.frame.Of == kind) {
			f.frame.Text = f.textRoom[:0]
			f.copies = min(n, textBytes)
		}
		return nil
	}
	return f.begin(kind, n, value)
}

// begin begins a list of so many elements, or pairs, as the value says.
func (f *frames) begin(kind byte, n int, value []byte) error {
	isAttribute := kind == '|'
	cost := 1 // of an attribute without elements: there may be many before a reply
	if n < math.MaxInt/4 {
		if kind == '%' || isAttribute {
			n *= 2
		}
		cost += n
	}
	if n > f.left/element || cost > f.left/element {
		return f.tooLarge(fmt.Sprintf("a list of %s elements", value))
	}
	f.left -= cost * element
	if f.depth == 0 && !isAttribute {
		f.frame.Elements = n
	}
	switch {
	case n == 0 && !isAttribute:
		return f.end()
	case n == 0:
	case f.depth == maxDepth:
		return fmt.Errorf("the server nests its reply more than %d levels deep", maxDepth)
	default:
		f.open[f.depth] = list{n, isAttribute}
		f.depth++
	}
	return nil
}

// end ends an element, and the lists whose last one it is.
func (f *frames) end() error {
	for ; f.depth > 0; f.depth-- {
		l := &f.open[f.depth-1]
		if l.left--; l.left > 0 {
			return nil
		}
		if l.isAttribute {
			f.depth--
			return nil
		}
	}
	f.left = f.limit
	if f.ended == nil {
		return nil
	}
	return f.ended(&f.frame)
}

// number reads a length. One that does not fit is the largest there is.
func number(digits []byte) (n int, ok bool) {
	v, err := strconv.ParseUint(string(digits), 10, 62)
	if errors.Is(err, strconv.ErrRange) {
		return math.MaxInt, true
	}
	return int(v), err == nil
}

func (f *frames) tooLarge(what string) error {
	return fmt.Errorf("the server announces or sends %s, and a reply may take %d bytes in all", what, f.limit)
}

func noReply(line []byte) error {
	return fmt.Errorf("the server sends %.40q, which is not Redis' protocol", line)
}
