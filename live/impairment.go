//go:build linux

package live

import (
	"sync"
	"time"
)

// flow is one direction of a link, and what is wrong with it.
type flow struct {
	mu sync.Mutex
	impairment
	changed chan struct{} // closed when the impairment changes, and replaced
}

// impairment is what is wrong with one direction of a link. The zero value is nothing.
type impairment struct {
	lost   int           // how many faults lose its messages
	held   int           // how many hold them back
	delay  time.Duration // added to each of them
	resets int           // how often its connections were reset
	closed bool          // the link was closed
}

func newFlow() *flow { return &flow{changed: make(chan struct{})} }

func (w *flow) state() (impairment, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.impairment, w.changed
}

func (w *flow) change(f func(*impairment)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.impairment)
	close(w.changed)
	w.changed = make(chan struct{})
}
