package kernel

import (
	"encoding/binary"
	"math/bits"
)

// Key stands for what a random choice is for.
type Key uint64

// With is the key of a part of what k is for.
func (k Key) With(part uint64) Key {
	hi, lo := bits.Mul64(uint64(k)^0x9E3779B97F4A7C15, part^0xD1B54A32D192ED03)
	x := hi ^ lo ^ bits.RotateLeft64(uint64(k), 23)
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 29
	return Key(x)
}

// WithString is the key of a part of what k is for, named by a string.
func (k Key) WithString(s string) Key {
	h := k.With(uint64(len(s)))
	for len(s) >= 8 {
		h = h.With(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	var rest uint64
	for i := 0; i < len(s); i++ {
		rest |= uint64(s[i]) << (8 * i)
	}
	return h.With(rest)
}

// Below draws evenly from 0 to n−1; n must be positive. The same key gives the same number.
func (k Key) Below(n uint64) uint64 {
	hi, _ := bits.Mul64(uint64(k.With(0x5EED)), n)
	return hi
}

// stream is an io.Reader of the bytes drawn for one purpose.
type stream struct {
	key Key
	n   uint64
}

func (s *stream) Read(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(s.key.With(s.n)))
		s.n++
		p = p[copy(p, word[:]):]
	}
	return n, nil
}
