//go:build linux

package proxy

import (
	"sync"
	"sync/atomic"
	"time"
)

// Flow is one direction of a link, and what is wrong with it.
type Flow struct {
	mu sync.Mutex
	Impairment
	changed chan struct{} // closed when the impairment changes, and replaced
	seen    func()        // is called when something comes into it
	met     atomic.Bool   // something came into it, or was in it, that an impairment was in the way of
}

// Impairment is what is wrong with one direction of a link. The zero value is nothing.
type Impairment struct {
	Lost   int           // how many faults lose its messages
	Held   int           // how many hold them back
	Delay  time.Duration // added to each of them
	Resets int           // how often its connections were reset
	closed bool          // the link was closed
}

func (i *Impairment) isInTheWay() bool { return i.Lost > 0 || i.Held > 0 || i.Delay > 0 }

// A toxic finds its flow by a number, as Toxiproxy makes toxics from JSON.
var (
	flows  sync.Map // int64 → *Flow
	number atomic.Int64
)

func newFlow() *Flow { return &Flow{changed: make(chan struct{}), seen: func() {}} }

// State is what is wrong now, and a channel that is closed when it changes.
func (w *Flow) State() (Impairment, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Impairment, w.changed
}

// Watch has seen called whenever something comes into the flow, on connections that are opened from now on.
func (w *Flow) Watch(seen func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = seen
}

func (w *Flow) watcher() (seen func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// Met says whether an impairment was in the way of anything until now.
func (w *Flow) Met() bool { return w.met.Load() }

// Change changes what is wrong.
func (w *Flow) Change(f func(*Impairment)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.Impairment)
	close(w.changed)
	w.changed = make(chan struct{})
}
