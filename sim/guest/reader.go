package guest

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// reader reads a module. After the first error it reads nothing.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// is says whether that byte comes next, and reads it then.
func (r *reader) is(b byte) bool {
	if len(r.rest) == 0 || r.rest[0] != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *reader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// number reads an integer of up to 64 bits, signed ones as if they were not.
func (r *reader) number() (n uint64) {
	for shift := 0; shift < 70; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	r.fail("a number that does not end")
	return 0
}

// count reads how many there are, of which each takes a byte or more.
func (r *reader) count(limit int, what string) int {
	n := r.number()
	switch {
	case r.err != nil:
		return 0
	case n > uint64(limit):
		r.fail("%d %s, more than %d", n, what, limit)
		return 0
	case n > uint64(len(r.rest)):
		r.fail("%d %s in %d bytes", n, what, len(r.rest))
		return 0
	}
	return int(n)
}

func (r *reader) name() { r.bytes(r.number()) }

// segment is data for a memory.
type segment struct {
	data []byte
	// at is its address, if fixed says that this is a number.
	at    uint64
	fixed bool
}

func (r *reader) data() (s segment) {
	flags := r.number()
	if flags == 2 {
		r.number()
	}
	if flags != 1 {
		where := r.rest
		r.expression()
		s.at, s.fixed = address(where[:len(where)-len(r.rest)])
		s.fixed = s.fixed && flags == 0
	}
	s.data = r.bytes(r.number())
	return s
}

// address is the value of an expression, if that is a number and nothing else. Those with the sign bit are beyond any memory.
func address(expression []byte) (at uint64, fixed bool) {
	r := &reader{rest: expression}
	constant := r.is(0x41)
	at = r.number()
	digits := expression[:len(expression)-len(r.rest)]
	return at, constant && r.is(0x0b) && r.err == nil && len(r.rest) == 0 && digits[len(digits)-1]&0x40 == 0
}

// value reads a type of values.
func (r *reader) value() {
	if b := r.byte(); b == 0x63 || b == 0x64 {
		r.number()
	}
}

func (r *reader) limits() (least, most uint64, bounded bool) {
	flags := r.byte()
	least = r.number()
	if bounded = flags&1 != 0; bounded {
		most = r.number()
	}
	return least, most, bounded
}

// expression reads a constant expression.
func (r *reader) expression() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b:
			return
		case 0x23, 0x41, 0x42, 0xd0, 0xd2:
			r.number()
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		case 0xfd:
			r.number()
			r.bytes(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e:
		default:
			r.fail("an expression with instruction %#x, which is not constant", op)
		}
	}
}

func appendNumber(to []byte, n uint64) []byte { return binary.AppendUvarint(to, n) }

func appendSection(to []byte, id byte, content []byte) []byte {
	return append(appendNumber(append(to, id), uint64(len(content))), content...)
}

// withMore is a section that is a list, with so many entries more.
func withMore(content []byte, n uint64, entries []byte) []byte {
	r := &reader{rest: content}
	return slices.Concat(appendNumber(nil, r.number()+n), r.rest, entries)
}

// appendSigned appends a number that is not negative, as a signed one.
func appendSigned(to []byte, n int) []byte {
	for ; n >= 0x40; n >>= 7 {
		to = append(to, byte(n)|0x80)
	}
	return append(to, byte(n))
}
