package model

import "sync"

// messages lends a run its exchanges, a fifth of what it would allocate: one for every message of the library to a node. A
// message may arrive long after its client has given it up, so an exchange lasts as long as the run.
type messages struct {
	blocks []*[blockSize]exchange
	lent   int
}

// blockSize is how many exchanges are made at once.
const blockSize = 64

// spare has the messages of runs that are over, for other runs.
var spare = sync.Pool{New: func() any { return new(messages) }}

// next is an exchange with nothing in it.
func (m *messages) next() *exchange {
	if m.lent == blockSize*len(m.blocks) {
		m.blocks = append(m.blocks, new([blockSize]exchange))
	}
	x := &m.blocks[m.lent/blockSize][m.lent%blockSize]
	*x = exchange{}
	m.lent++
	return x
}

// end takes the exchanges of a run back that is over.
func (m *messages) end() {
	m.lent = 0
	spare.Put(m)
}
