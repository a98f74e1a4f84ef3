//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// sharedKeys is how many locks all callers want where they contend.
const sharedKeys = 4

// patience is how long after its end a run waits for operations that were begun before: for one that waits for the same
// silent server twice, and some more.
const patience = 2*nodeTimeout + 200*time.Millisecond

// load is callers that lock and unlock, one operation after the other, without a pause.
type load struct {
	name       string // of the run, in the keys: what an earlier one left behind is in nobody's way
	parallel   int
	contended  bool // for sharedKeys locks; else each caller has a lock of its own
	duration   time.Duration
	patience   time.Duration // after it: then who still waits for a lock gives up
	operations int           // for each caller; zero if the duration ends the run
}

// tally is what came of a run.
type tally struct {
	operations int // that succeeded
	waiting    int // operations that were given up
	failures   int
	err        error                   // the first of the failures
	rate       float64                 // successful operations a second
	latencies  *hdrhistogram.Histogram // of those that succeeded or were given up, in nanoseconds
	cpu        float64                 // processor seconds of the process
	mallocs    uint64                  // in the whole process
}

// add counts an operation. One that was given up counts among the latencies with the time that it has taken so far: to leave
// it out would be to leave out the slowest.
func (t *tally) add(took time.Duration, givenUp bool, err error) {
	switch {
	case err == nil:
		t.operations++
	case givenUp:
		t.waiting++
	default:
		t.failures++
		if t.err == nil {
			t.err = err
		}
		return
	}
	_ = t.latencies.RecordValue(took.Nanoseconds()) // no run is longer than the range
}

// newLatencies makes a histogram with a resolution of a thousandth.
func newLatencies() *hdrhistogram.Histogram {
	return hdrhistogram.New(time.Microsecond.Nanoseconds(), time.Minute.Nanoseconds(), 3)
}

func (l load) key(caller int) string {
	if l.contended {
		return fmt.Sprintf("bench-%s-shared-%d", l.name, caller%sharedKeys)
	}
	return fmt.Sprintf("bench-%s-own-%d", l.name, caller)
}

// crew is the callers of a run, and what has come of it so far.
type crew struct {
	load
	start chan struct{} // closed when all may begin

	mu    sync.Mutex
	tally *tally
}

// run lets the callers work. An operation begun before the end counts. The rate is the sum of the callers'
// rates, each over the time until its own last operation was over: so operations that take long in comparison to the duration,
// or wait behind others, are not left out.
func (l load) run(ctx context.Context, lock locker) (*tally, error) {
	c := &crew{load: l, start: make(chan struct{}), tally: &tally{latencies: newLatencies()}}
	lockers, err := l.lockers(lock)
	if err != nil {
		return nil, err
	}
	var ready, all sync.WaitGroup
	ready.Add(l.parallel)
	for caller, lock := range lockers {
		all.Go(func() { c.work(ctx, lock, l.key(caller), ready.Done) })
	}
	ready.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, err := ownCPUSeconds()
	close(c.start)
	all.Wait()
	if err != nil {
		return nil, err
	}
	t := c.tally
	if t.cpu, err = ownCPUSeconds(); err != nil {
		return nil, err
	}
	t.cpu -= cpu
	runtime.ReadMemStats(&after)
	t.mallocs = after.Mallocs - before.Mallocs
	return t, nil
}

// lockers are what the callers lock with: each its own where they contend, if there can be more than one.
func (l load) lockers(lock locker) ([]locker, error) {
	lockers := make([]locker, l.parallel)
	for caller := range lockers {
		lockers[caller] = lock
		if s, ok := lock.(separable); ok && l.contended {
			var err error
			if lockers[caller], err = s.separate(); err != nil {
				return nil, err
			}
		}
	}
	return lockers, nil
}

// work is what one caller does, once it is ready and all may begin.
func (c *crew) work(ctx context.Context, lock locker, key string, ready func()) {
	// A context each, as requests have: children of one context would wait for each other.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release := context.WithoutCancel(ctx)
	ready()
	<-c.start
	if c.operations == 0 {
		defer time.AfterFunc(c.duration+c.patience, cancel).Stop()
	}
	var (
		begin = time.Now()
		now   = begin
		done  = 0
	)
	for n := 0; ctx.Err() == nil && (n < c.operations || c.operations == 0 && now.Sub(begin) < c.duration); n++ {
		before := now
		err := lockAndUnlock(ctx, release, lock, key)
		now = time.Now()
		if err == nil {
			done++
		}
		c.mu.Lock()
		c.tally.add(now.Sub(before), ctx.Err() != nil, err)
		c.mu.Unlock()
	}
	if done == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.rate += float64(done) / now.Sub(begin).Seconds()
}

// lockAndUnlock gives up waiting for the lock when ctx ends, but not the release.
func lockAndUnlock(ctx, release context.Context, l locker, key string) error {
	h, err := l.lock(ctx, key)
	if err != nil {
		return err
	}
	return h.Unlock(release)
}
