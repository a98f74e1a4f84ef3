package history

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// hashVersion begins every hashed stream, so that a change of the encoding changes every hash.
const hashVersion = "redlocksim history 1\n"

// flushAt leaves most events a place in the buffer without growing it: strings are short, and a sha256 block small.
const flushAt = 4096

// Hasher computes the hash of a history while it is recorded. The zero value is the hash of no events.
//
// The hash is the sha256, in lower-case hexadecimal, of the line "redlocksim history 1" and of every event in order,
// each encoded as:
//
//   - two bytes, little endian: bit i is set if field i of [Event] in the order of its declaration is not zero, for
//     Seq if it is not one more than that of the event before, for Time if it is not equal to it (0 before the first);
//   - for each bit set, in that order, the field: an integer as a zigzag varint, Seq and Time less that of the event
//     before; Kind, Func and Outcome as their place from 1 in the order of declaration, one byte, or 0 and a text for
//     any other word; a text as its length in bytes, a varint, and its bytes.
//
// The two bytes have no bit left for Basis. If it is not zero, 128 is added to the byte of Kind, which is then there in any
// case, and Basis follows the other fields.
//
// Every event can be read back from this, so histories that differ in any field of any event differ in what is hashed.
// Add does not allocate, except to grow once for texts longer than any before.
type Hasher struct {
	sum  hash.Hash
	buf  []byte
	seq  int
	time int64
}

// Hash returns the hash of h, as [Hasher] computes it.
func Hash(h History) string {
	var s Hasher
	for i := range h {
		s.Add(&h[i])
	}
	return s.Sum()
}

// Sum returns the hash of the events added so far, 64 hexadecimal digits. More may be added after.
func (s *Hasher) Sum() string {
	s.begin()
	s.flush()
	return hex.EncodeToString(s.sum.Sum(nil))
}

func (s *Hasher) begin() {
	if s.sum == nil {
		s.sum = sha256.New()
		s.buf = append(make([]byte, 0, flushAt+1024), hashVersion...)
	}
}

func (s *Hasher) flush() {
	s.sum.Write(s.buf)
	s.buf = s.buf[:0]
}

// Add appends e to what is hashed. It spells out each field: helpers for integers, texts and words took 1.7 times as long, in
// every event of every run.
func (s *Hasher) Add(e *Event) {
	s.begin()
	b := append(s.buf, 0, 0)
	mask, at := uint16(0), len(s.buf)
	if e.Seq != s.seq+1 {
		mask |= 1 << 0
		// Computed without sign: a difference that wraps around still has its one inverse.
		b = appendInt(b, int64(uint64(e.Seq)-uint64(s.seq)))
	}
	if e.Time != s.time {
		mask |= 1 << 1
		b = appendInt(b, int64(uint64(e.Time)-uint64(s.time)))
	}
	if e.Kind != "" || e.Basis != 0 {
		mask |= 1 << 2
		kind := len(b)
		b = appendWord(b, place(kinds[:], e.Kind), string(e.Kind))
		if e.Basis != 0 {
			b[kind] |= 1 << 7
		}
	}
	if e.Process != "" {
		mask |= 1 << 3
		b = appendText(b, e.Process)
	}
	if e.Op != 0 {
		mask |= 1 << 4
		b = appendInt(b, int64(e.Op))
	}
	if e.Func != "" {
		mask |= 1 << 5
		b = appendWord(b, place(funcs[:], e.Func), string(e.Func))
	}
	if e.Resource != "" {
		mask |= 1 << 6
		b = appendText(b, e.Resource)
	}
	if e.Grant != 0 {
		mask |= 1 << 7
		b = appendInt(b, int64(e.Grant))
	}
	if e.Outcome != "" {
		mask |= 1 << 8
		b = appendWord(b, place(outcomes[:], e.Outcome), string(e.Outcome))
	}
	if e.Name != "" {
		mask |= 1 << 9
		b = appendText(b, e.Name)
	}
	if e.Node != "" {
		mask |= 1 << 10
		b = appendText(b, e.Node)
	}
	if e.Number != 0 {
		mask |= 1 << 11
		b = appendInt(b, e.Number)
	}
	if e.Span != 0 {
		mask |= 1 << 12
		b = appendInt(b, e.Span)
	}
	if e.Detail != "" {
		mask |= 1 << 13
		b = appendText(b, e.Detail)
	}
	if e.Token != 0 {
		mask |= 1 << 14
		b = appendInt(b, e.Token)
	}
	if e.With != 0 {
		mask |= 1 << 15
		b = appendInt(b, int64(e.With))
	}
	if e.Basis != 0 {
		b = appendInt(b, int64(e.Basis))
	}
	binary.LittleEndian.PutUint16(b[at:], mask)
	s.seq, s.time, s.buf = e.Seq, e.Time, b
	if len(b) >= flushAt {
		s.flush()
	}
}

func appendInt(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendWord(b []byte, place byte, word string) []byte {
	b = append(b, place)
	if place == 0 {
		b = appendText(b, word)
	}
	return b
}
