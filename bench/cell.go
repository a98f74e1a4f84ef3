//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// cell is one thing to measure: a contestant under one load, in one condition.
type cell struct {
	condition  *condition
	contended  bool
	parallel   int
	contestant *contestant
}

func kindOf(contended bool) string {
	if contended {
		return "contended"
	}
	return "uncontended"
}

// String is what --only selects by.
func (c cell) String() string {
	return fmt.Sprintf("%s/%s/%d/%s", strings.ReplaceAll(c.condition.name, " ", "-"), kindOf(c.contended), c.parallel, c.contestant.name)
}

// cells are all there are, those to be compared with each other in a row.
func cells() (all []cell) {
	for i := range conditions {
		for _, contended := range []bool{false, true} {
			for _, parallel := range []int{1, 64, 512} {
				if contended && parallel == 1 {
					continue
				}
				for j := range contestants {
					c := cell{&conditions[i], contended, parallel, &contestants[j]}
					if c.contestant.servers == 1 && !c.condition.isHealthy() {
						continue // without its only server it does nothing
					}
					if c.contestant.floor && (contended || !c.condition.isHealthy()) {
						continue
					}
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// isLengthy: the callers wait for each other, and for a server, far longer than a quick run measures.
func (c cell) isLengthy() bool { return c.contended && (c.parallel > 64 || !c.condition.isHealthy()) }

// compared is a group of cells of one round: all that differs is the contestant.
type compared struct {
	condition *condition
	contended bool
	parallel  int
}

func (c cell) group() compared { return compared{c.condition, c.contended, c.parallel} }

// figures are what is found of a cell in one round. Zero where it was not measured.
type figures struct {
	micros         float64 // wall clock time divided by operations, in microseconds
	p50, p99, p999 time.Duration
	mallocs        float64 // for each operation, as all below
	clientCPU      float64 // processor microseconds
	serverCPU      float64
	executed       float64
	reads          float64
	operations     int
	waiting        int // operations that were given up
	failures       int
	err            error // the first failure
}

// measure runs a cell for that long, after warm-ups of a quarter of it.
func (c *cluster) measure(ctx context.Context, x cell, duration time.Duration) (f figures, err error) {
	if err := c.flush(ctx); err != nil {
		return f, err
	}
	on, err := c.stage(x.condition)
	if err != nil {
		return f, err
	}
	defer on.close()
	lock, err := x.contestant.open(ctx, on.addrs[:x.contestant.servers])
	if err != nil {
		return f, err
	}
	defer lock.close()
	warmUp := load{name: "warm-up", parallel: x.parallel, contended: x.contended, duration: duration / 4}
	if _, err := warmUp.run(ctx, lock); err != nil {
		return f, err
	}
	if !x.condition.isHealthy() {
		if err := on.inject(); err != nil {
			return f, err
		}
		warmUp.name = "injected"
		if _, err := warmUp.run(ctx, lock); err != nil {
			return f, err
		}
	}
	var before, after counters
	if x.condition.isHealthy() {
		if before, err = c.settled(ctx); err != nil {
			return f, err
		}
	}
	runtime.GC()
	measured := load{name: "measured", parallel: x.parallel, contended: x.contended, duration: duration, patience: patience}
	t, err := measured.run(ctx, lock)
	if err != nil {
		return f, err
	}
	if x.condition.isHealthy() {
		if after, err = c.settled(ctx); err != nil {
			return f, err
		}
	}
	if err := ctx.Err(); err != nil {
		return f, err
	}
	return figuresOf(t, after.minus(before), x.condition.isHealthy()), nil
}

func figuresOf(t *tally, counted counters, isHealthy bool) figures {
	f := figures{operations: t.operations, waiting: t.waiting, failures: t.failures, err: t.err}
	if t.operations == 0 {
		return f
	}
	f.micros = 1e6 / t.rate
	f.p50 = time.Duration(t.latencies.ValueAtQuantile(50))
	f.p99 = time.Duration(t.latencies.ValueAtQuantile(99))
	f.p999 = time.Duration(t.latencies.ValueAtQuantile(99.9))
	if isHealthy {
		n := float64(t.operations)
		f.mallocs, f.executed, f.reads = float64(t.mallocs)/n, counted.executed/n, counted.reads/n
		f.clientCPU, f.serverCPU = t.cpu*1e6/n, counted.cpu*1e6/n
	}
	return f
}
