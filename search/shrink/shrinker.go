package shrink

import (
	"bytes"
	"context"
	"errors"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// candidate is a scenario and the file that it came from.
type candidate struct {
	now  *scenarios.Scenario
	data []byte
	root *yaml.Node // of data, once somebody reads it
}

// shrinker looks for a smaller scenario: the simplest one so far, and what was tried.
type shrinker struct {
	candidate
	weight  weight
	ctx     context.Context
	broken  func(*scenarios.Scenario) (bool, error)
	watch   func(*scenarios.Scenario) (history.History, error)
	limit   int
	name    string
	base    *scenarios.Scenario // around which settings were drawn, nil if they were not
	known   map[string]bool     // by file, whether it is broken
	refused map[string]bool     // by what was cut out of a file, that it is no simpler one
	runs    int                 // how often broken was called
	stopped error               // why the search is over; nil if it is not
}

var errExhausted = errors.New("shrink: the runs are used up")

// edit changes a scenario; it owns all of it.
type edit func(*scenarios.Scenario)

// parse is the scenario of a file, all of it new, and checked.
func (x *shrinker) parse(data []byte) (*scenarios.Scenario, error) {
	found, err := scenarios.Parse("", data)
	if err != nil {
		return nil, err
	}
	found[0].Name = x.name
	return found[0], nil
}

// edited is the simplest scenario so far with a change; nil if that is none, is not allowed, or is known not to be broken.
func (x *shrinker) edited(change edit) *candidate {
	if x.stopped != nil {
		return nil
	}
	own, err := x.parse(x.data)
	if err != nil {
		x.stopped = err
		return nil
	}
	change(own)
	return x.encoded(own)
}

// encoded is a scenario as its file has it; nil if there is none, it is the simplest one so far, or is known not to be broken.
func (x *shrinker) encoded(own *scenarios.Scenario) *candidate {
	data, err := own.Encode()
	if err != nil || bytes.Equal(data, x.data) {
		return nil
	}
	if broken, ran := x.known[string(data)]; ran && !broken {
		return nil
	}
	if own, err = x.parse(data); err != nil {
		return nil
	}
	return &candidate{now: own, data: data}
}

// shows runs a candidate, unless it was run before.
func (x *shrinker) shows(c *candidate) bool {
	if broken, ok := x.known[string(c.data)]; ok {
		return broken
	}
	if x.isOver() {
		return false
	}
	x.runs++
	broken, err := x.broken(c.now)
	if err != nil && !errors.Is(err, kernel.ErrTooLong) { // what is simpler may go round without waiting
		x.stopped = err
		return false
	}
	x.known[string(c.data)] = broken
	return broken
}

// isOver says whether no more runs are to be made, and notes why.
func (x *shrinker) isOver() bool {
	if x.stopped == nil {
		x.stopped = context.Cause(x.ctx)
	}
	if x.stopped == nil && x.runs >= x.limit {
		x.stopped = errExhausted
	}
	return x.stopped != nil
}

// breaks says whether the scenario with a change is still broken, and leaves it as it is.
func (x *shrinker) breaks(change edit) bool {
	c := x.edited(change)
	return c != nil && x.shows(c)
}

// try makes a change if it makes the scenario simpler and that is still broken.
func (x *shrinker) try(change edit) bool { return x.take(x.edited(change)) }

// take takes a candidate, unless it is nil, if it is simpler and still broken.
func (x *shrinker) take(c *candidate) bool {
	if c == nil {
		return false
	}
	w := weigh(c.now, c.data, x.base)
	if !w.less(x.weight) || !x.shows(c) {
		return false
	}
	x.candidate, x.weight = *c, w
	return true
}
