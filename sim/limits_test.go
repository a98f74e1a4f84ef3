package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
)

// Each limit lets through what is as large as itself, and ends the run with an error of its own at one more.
func TestLimitsEndRuns(t *testing.T) {
	for name, test := range map[string]struct {
		most limits
		less limits
		do   func(*sim.World, *kernel.Process)
	}{
		"events": {limits{events: 3}, limits{events: 2}, func(w *sim.World, c *kernel.Process) {
			defer c.Sleep(context.Background(), time.Second) // what is deferred must not keep the run going
			for range 3 {
				w.Record(history.Event{Kind: history.Call, Process: "c"})
			}
		}},
		"steps": {limits{kernel: kernel.Limits{Steps: 3}}, limits{kernel: kernel.Limits{Steps: 2}}, func(_ *sim.World, c *kernel.Process) {
			c.Sleep(context.Background(), 1) // the start, a timer, and a waking
		}},
		"goroutines": {limits{kernel: kernel.Limits{Goroutines: 3}}, limits{kernel: kernel.Limits{Goroutines: 2}}, func(_ *sim.World, c *kernel.Process) {
			for range 2 {
				c.Tasks().Start(func() { c.Sleep(context.Background(), time.Second) })
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := within(test.most, test.do); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			err := within(test.less, test.do)
			long := (*kernel.TooLong)(nil)
			if !errors.Is(err, kernel.ErrTooLong) || !errors.As(err, &long) || long.Limit != test.less.events+test.less.kernel.Steps+test.less.kernel.Goroutines {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
}

// limits are those of one run.
type limits struct {
	events int
	kernel kernel.Limits
}

// within runs a program of a client with limits, and returns the error that the run ends with.
func within(l limits, program func(*sim.World, *kernel.Process)) (err error) {
	w := sim.NewWorld(sim.Config{Clients: []sim.ClientConfig{{Name: "c"}}, MaxEvents: l.events, Limits: l.kernel}, model.New())
	defer w.Close()
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	c := w.Client("c")
	c.Go(func() { program(w, c) })
	w.Kernel.Run(kernel.True(10 * time.Millisecond))
	if n := len(w.History()); l.events > 0 && n > l.events {
		return errors.New("more events than the limit")
	}
	return nil
}
