package guest

import (
	"encoding/binary"

	"github.com/tetratelabs/wazero/api"
)

// memory is that of a guest, by its addresses. What is not there is a fault.
type memory struct{ api.Memory }

func (m memory) put(at uint64, b []byte) errno   { return faultUnless(m.Write(uint32(at), b)) }
func (m memory) put32(at uint64, v uint32) errno { return faultUnless(m.WriteUint32Le(uint32(at), v)) }
func (m memory) put64(at uint64, v uint64) errno { return faultUnless(m.WriteUint64Le(uint32(at), v)) }

func faultUnless(ok bool) errno {
	if ok {
		return success
	}
	return fault
}

// vectors calls f for each of the pieces of memory of which there are n in a list at an address, until f is false. It is false
// if a piece is not there.
func (m memory) vectors(at, n uint64, f func(piece []byte) bool) bool {
	for i := range n {
		v, ok := m.Read(uint32(at+8*i), 8)
		if !ok {
			return false
		}
		piece, ok := m.Read(binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:]))
		if !ok {
			return false
		}
		if !f(piece) {
			break
		}
	}
	return true
}
