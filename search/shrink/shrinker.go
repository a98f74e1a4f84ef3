package shrink

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// candidate is a scenario as its file has it.
type candidate struct {
	file    []byte
	root    *yaml.Node // of file, to read
	now     *scenarios.Scenario
	weight  []int64         // see weigh
	history history.History // of its run, if that was made and shows what is to be kept
}

// shrinker looks for a smaller scenario: the simplest one so far, and what was tried.
type shrinker struct {
	candidate
	ctx      context.Context
	question search.Question
	limit    int
	name     string
	base     *scenarios.Scenario // around which settings were drawn, nil if they were not
	refused  map[string]bool     // files that are none, or show nothing
	runs     int                 // how often the question was asked
	stopped  error               // why the search is over; nil if it is not
}

var errExhausted = errors.New("shrink: the runs are used up")

// cut makes a change of the file, if that leaves something simpler which still shows what is to be kept.
func (x *shrinker) cut(change func(root *yaml.Node)) bool { return x.take(x.changed(change)) }

// try makes a change of the scenario on the same condition.
func (x *shrinker) try(change func(*scenarios.Scenario)) bool { return x.take(x.edited(change)) }

// take takes a candidate, unless it is nil, if it is simpler and shows what is to be kept.
func (x *shrinker) take(c *candidate) bool {
	if c == nil || slices.Compare(c.weight, x.weight) >= 0 || !x.shows(c) {
		return false
	}
	x.candidate = *c
	return true
}

// edited is the scenario with a change, and changed the file with one; nil if that is none, or nothing new.
func (x *shrinker) edited(change func(*scenarios.Scenario)) *candidate {
	own, err := scenarios.Parse("", x.file)
	if err != nil {
		panic(err) // it was one before
	}
	change(own[0])
	file, err := own[0].Encode()
	if err != nil {
		return nil
	}
	return x.read(file)
}

func (x *shrinker) changed(change func(root *yaml.Node)) *candidate {
	root := treeOf(x.file)
	change(root)
	file, err := yaml.Marshal(root)
	if err != nil {
		return nil
	}
	return x.read(file)
}

// read reads a file as a candidate; nil if it is none, is what is there already, or was refused.
func (x *shrinker) read(file []byte) *candidate {
	if x.stopped != nil || x.refused[string(file)] {
		return nil
	}
	if c, err := x.parsed(file); err == nil && !bytes.Equal(c.file, x.file) && !x.refused[string(c.file)] {
		return c
	}
	x.refused[string(file)] = true
	return nil
}

// parsed is the candidate of a file, however it is written.
func (x *shrinker) parsed(file []byte) (*candidate, error) {
	found, err := scenarios.Parse("", file)
	if err != nil {
		return nil, err
	}
	c := &candidate{now: found[0]}
	c.now.Name = x.name
	if c.file, err = c.now.Encode(); err != nil {
		return nil, err
	}
	c.root = treeOf(c.file)
	c.weight = weigh(c.now, x.base, c.root, c.file)
	return c, nil
}

// shows makes the run of a candidate.
func (x *shrinker) shows(c *candidate) bool {
	switch {
	case c == nil || x.refused[string(c.file)]:
		return false
	case c.history != nil:
		return true
	}
	if x.stopped = context.Cause(x.ctx); x.stopped == nil && x.runs >= x.limit {
		x.stopped = errExhausted
	}
	if x.stopped != nil {
		return false
	}
	x.runs++
	var err error
	c.history, err = x.question(c.now)
	if err != nil && !errors.Is(err, kernel.ErrTooLong) { // what is simpler may go round without waiting
		x.stopped = err
		return false
	}
	x.refused[string(c.file)] = c.history == nil
	return c.history != nil
}
