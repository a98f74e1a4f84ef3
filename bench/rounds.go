//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// round measures all cells once. Those that are compared are next to each other, so that what else the machine does meets all
// of them; in each round another one of them is the first.
func (c *cluster) round(ctx context.Context, all []cell, n int, duration time.Duration, progress func(string, ...any)) ([]figures, error) {
	found := make([]figures, len(all))
	for begin := 0; begin < len(all); {
		end := begin + 1
		for end < len(all) && all[end].group() == all[begin].group() {
			end++
		}
		for i := range end - begin {
			j := begin + (i+n)%(end-begin)
			var err error
			if found[j], err = c.measure(ctx, all[j], duration); err != nil {
				return nil, fmt.Errorf("%s: %w", all[j], err)
			}
			progress("%-55s %9.1f µs  p99 %8.2f ms  %d failed", all[j], found[j].micros, milliseconds(found[j].p99), found[j].failures)
		}
		begin = end
	}
	return found, nil
}

// watchedOperations is how many each caller does while the servers tell of every command.
const watchedOperations = 20

// traffic finds out what is sent with free locks on healthy servers, for those of the cells.
func (c *cluster) traffic(ctx context.Context, of []cell) (rows []trafficRow, err error) {
	for _, x := range of {
		if !x.condition.isHealthy() || x.contended || x.parallel > 64 { // what more of them send is told too slowly
			continue
		}
		r, err := c.trafficOf(ctx, x.contestant, x.parallel)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *cluster) trafficOf(ctx context.Context, who *contestant, parallel int) (trafficRow, error) {
	r := trafficRow{contestant: who, parallel: parallel}
	lock, err := c.open(ctx, who)
	if err != nil {
		return r, err
	}
	defer lock.close()
	l := load{name: "watched", parallel: parallel, operations: watchedOperations}
	if _, err := l.run(ctx, lock); err != nil { // scripts are sent with their source at first
		return r, err
	}
	if _, err := c.settled(ctx); err != nil {
		return r, err
	}
	r.traffic, err = c.watch(ctx, func() error {
		t, err := l.run(ctx, lock)
		if err != nil {
			return err
		}
		if r.operations = t.operations; r.operations == 0 {
			return t.err
		}
		_, err = c.settled(ctx)
		return err
	})
	return r, err
}
