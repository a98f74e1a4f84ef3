package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/history"
	"redlocksim/sim"
	"redlocksim/sim/model"
)

// Each limit lets through what is as large as itself, and ends the run with an error of its own at one more.
func TestLimitsEndRuns(t *testing.T) {
	for name, test := range map[string]struct {
		most sim.Limits
		less sim.Limits
		do   func(*sim.World, *sim.Process)
	}{
		"events": {sim.Limits{Events: 3}, sim.Limits{Events: 2}, func(w *sim.World, c *sim.Process) {
			defer c.Sleep(context.Background(), time.Second) // what is deferred must not keep the run going
			for range 3 {
				w.Record(history.Event{Kind: history.Call, Process: "c"})
			}
		}},
		"steps": {sim.Limits{Steps: 3}, sim.Limits{Steps: 2}, func(_ *sim.World, c *sim.Process) {
			c.Sleep(context.Background(), 1) // the start, a timer, and a waking
		}},
		"goroutines": {sim.Limits{Goroutines: 3}, sim.Limits{Goroutines: 2}, func(_ *sim.World, c *sim.Process) {
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
			long := (*sim.TooLong)(nil)
			if !errors.Is(err, sim.ErrTooLong) || !errors.As(err, &long) || long.Limit != test.less.Events+test.less.Steps+test.less.Goroutines {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
}

// within runs a program of a client with limits, and returns the error that the run ends with.
func within(limits sim.Limits, program func(*sim.World, *sim.Process)) (err error) {
	w := sim.NewWorld(sim.Config{Clients: []sim.ClientConfig{{Name: "c"}}, Limits: limits}, model.New())
	defer w.Close()
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	c := w.Client("c")
	c.Go(func() { program(w, c) })
	w.Kernel.Run(sim.True(10 * time.Millisecond))
	if n := len(w.History()); limits.Events > 0 && n > limits.Events {
		return errors.New("more events than the limit")
	}
	return nil
}
