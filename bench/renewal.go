//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// renewal is what it costs to keep locks renewed.
type renewal struct {
	contestant *contestant
	held       int           // locks
	taking     time.Duration // until all were granted
	renewals   float64       // a second
	client     float64       // processor seconds a second, of this process
	servers    float64       // of all servers together
	mallocs    float64       // for each renewal
	lost       int
	err        error // the first that was lost
}

// renewEvery is the time between two renewals of a lock.
const renewEvery = ttl / 3

// startingHolders is how many locks are asked for at a time, before they are renewed, and released in the end.
const startingHolders = 64

// holders hold the locks of a renewal, each in a goroutine of its own.
type holders struct {
	lock   holder
	all    sync.WaitGroup
	places chan struct{} // for the startingHolders that are about to be granted or released
	stops  []func()      // one for each lock: releases it, and waits for that
	held   atomic.Int64

	mu   sync.Mutex
	lost int
	err  error // the first that was lost
}

// take asks for one more lock, once there is a place, and goes on without waiting for the grant.
func (h *holders) take(ctx context.Context, key string) {
	h.places <- struct{}{}
	holding, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	h.stops = append(h.stops, func() {
		stop()
		<-stopped
	})
	h.all.Go(func() {
		defer close(stopped)
		var once sync.Once
		free := func() { <-h.places }
		err := h.lock.hold(holding, key, func() {
			h.held.Add(1)
			once.Do(free)
		})
		once.Do(free)
		if err != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lost++
			if h.err == nil {
				h.err = err
			}
		}
	})
}

// settle waits until all locks that were asked for are granted or given up.
func (h *holders) settle() {
	for range startingHolders { // the last ones
		h.places <- struct{}{}
	}
}

// release follows settle. As many are released at a time as were taken: all at once would be another measurement.
func (h *holders) release() {
	for _, stop := range h.stops {
		<-h.places
		go func() {
			stop()
			h.places <- struct{}{}
		}()
	}
	h.all.Wait()
}

// renew has a contestant hold so many locks, and measures for that long once all have been renewed for the first time.
func (c *cluster) renew(ctx context.Context, who *contestant, locks int, duration time.Duration) (renewal, error) {
	r := renewal{contestant: who, held: locks}
	lock, err := c.open(ctx, who)
	if err != nil {
		return r, err
	}
	defer lock.close()
	h := &holders{lock: lock.(holder), places: make(chan struct{}, startingHolders)}
	begin := time.Now()
	for n := range locks {
		h.take(ctx, fmt.Sprintf("bench-held-%d", n))
	}
	h.settle()
	r.taking = time.Since(begin)
	sleep(ctx, renewEvery*3/2) // and between two renewals of most, for those that are measured to be whole rounds
	err = c.cost(ctx, &r, duration)
	if held := h.held.Load(); int(held) != locks && err == nil {
		err = fmt.Errorf("%s: %d of %d locks were granted", who.name, held, locks)
	}
	h.release()
	r.lost, r.err = h.lost, h.err
	return r, err
}

// cost measures for that long.
func (c *cluster) cost(ctx context.Context, r *renewal, duration time.Duration) error {
	type reading struct {
		at      time.Time
		counted counters
		client  float64
		memory  runtime.MemStats
	}
	read := func() (x reading, err error) {
		if x.counted, err = c.count(ctx); err != nil {
			return x, err
		}
		runtime.ReadMemStats(&x.memory)
		x.client, err = ownCPUSeconds()
		x.at = time.Now()
		return x, err
	}
	before, err := read()
	if err != nil {
		return err
	}
	sleep(ctx, duration)
	after, err := read()
	if err != nil {
		return err
	}
	seconds := after.at.Sub(before.at).Seconds()
	counted := after.counted.minus(before.counted)
	renewals := counted.scripts / float64(r.contestant.servers) // one script on each server
	r.renewals = renewals / seconds
	r.client = (after.client - before.client) / seconds
	r.servers = counted.cpu / seconds
	if renewals > 0 {
		r.mallocs = float64(after.memory.Mallocs-before.memory.Mallocs) / renewals
	}
	return nil
}

// sleep waits, or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// ownCPUSeconds is the processor time that this process has used.
func ownCPUSeconds() (float64, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds(), nil
}
