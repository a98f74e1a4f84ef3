package guest

import (
	"sync"

	"github.com/tetratelabs/wazero/experimental"
)

// memories are those of a program's guests. One that has ended leaves its memory to the next: of a short run, most of the time
// went into new ones, of some megabytes each.
type memories struct {
	// image is what a memory begins with.
	image []byte
	// left has *recycled without a length, all of whose capacity is zero.
	left sync.Pool
}

// Allocate makes a memory.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	r, is := m.left.Get().(*recycled)
	if !is {
		r = &recycled{of: m, most: most}
	}
	return r
}

// recycled is a memory that may have been another guest's.
type recycled struct {
	of    *memories
	most  uint64 // the largest size that it can have
	bytes []byte
}

// Reallocate gives the memory a size, which is never smaller than it was.
func (r *recycled) Reallocate(size uint64) []byte {
	isNew := len(r.bytes) == 0
	if size > uint64(cap(r.bytes)) {
		grown := make([]byte, len(r.bytes), min(max(size, 2*uint64(cap(r.bytes))), r.most))
		copy(grown, r.bytes)
		r.bytes = grown
	}
	r.bytes = r.bytes[:size]
	if isNew {
		copy(r.bytes, r.of.image)
	}
	return r.bytes
}

// Free leaves the memory to another guest.
func (r *recycled) Free() {
	clear(r.bytes)
	r.bytes = r.bytes[:0]
	r.of.left.Put(r)
}
