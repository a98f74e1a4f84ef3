package faults

import (
	"fmt"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/strictyaml"
)

// WrongAnswers has a node answer every command in the same way, and carry out none: a server that is still loading, has no
// memory left or cannot save, or a proxy in front of it whose connection is in a transaction.
type WrongAnswers struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required"`
	// With is what it answers with, by the first word of it: an error, or QUEUED, which is none. Example: LOADING
	With Answer `yaml:"with,required"`
	// For is the length in true time. Default: for good. Example: 5s
	For time.Duration `yaml:"for"`
}

// Answer is what a node answers every command with.
type Answer uint8

// Answers of redis-server to commands that it does not carry out. Loading is the zero value.
const (
	Loading Answer = iota
	OutOfMemory
	CannotSave
	Queued
)

var _ = strictyaml.Enum[Answer]("answer").Word("LOADING", Loading).Word("OOM", OutOfMemory).
	Word("MISCONF", CannotSave).Word("QUEUED", Queued)

func (a Answer) String() string {
	return [...]string{Loading: "LOADING", OutOfMemory: "OOM", CannotSave: "MISCONF", Queued: "QUEUED"}[a]
}

// reply is the answer as redis-server words it.
func (a Answer) reply() any {
	switch a {
	case Loading:
		return rediscmd.ServerError("LOADING Redis is loading the dataset in memory")
	case OutOfMemory:
		return rediscmd.ServerError("OOM command not allowed when used memory > 'maxmemory'.")
	case CannotSave:
		return rediscmd.ServerError("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.")
	}
	return rediscmd.Status(a.String())
}

// answers are those that clients can be given, first the one that looks most like a yes.
func (l *Limits) answers() []Answer {
	all := []Answer{Queued, Loading, OutOfMemory, CannotSave}
	if !l.Strict {
		return all[1:]
	}
	return all
}

var wrongAnswers = Kind{
	Name: "wrong-answers", New: func() Fault { return new(WrongAnswers) },
	Target: OneNode, Ends: "right-answers",
	Draw: func(c Choices, l *Limits) Fault {
		return &WrongAnswers{Node: l.node(c), With: OneOf(c.For("with", 0), l.answers()...), For: l.Times.Length(c.For("for", 0), minOutage, 2*l.Scale)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Nodes, func(n string) Fault { return &WrongAnswers{Node: n, With: l.answers()[0], For: l.Scale} })
	},
}

func (x *WrongAnswers) String() string {
	text := fmt.Sprintf("%s answers every command with %s", x.Node, x.With)
	if x.For > 0 {
		text += fmt.Sprintf(" for %v", x.For)
	}
	return text
}

// Check implements Fault.
func (x *WrongAnswers) Check(n Names) []Problem {
	return append(among("node", x.Node, n.Nodes, "node"), notNegative("for", x.For)...)
}

// Inject implements Fault.
func (x *WrongAnswers) Inject(f *Field) error {
	end, err := f.ground.Answer(x.Node, x.With)
	if err != nil {
		return err
	}
	f.note("wrong-answers", "", x.Node, x.For, "%v", x)
	f.lasts(x.For, func() {
		end()
		f.note("right-answers", "", x.Node, 0, "%s no longer answers every command with %s", x.Node, x.With)
	})
	return nil
}

// Target implements Fault.
func (x *WrongAnswers) Target() string { return x.Node }

// Size implements Fault.
func (x *WrongAnswers) Size() *Size {
	return &Size{Value: x.For, Knob: "the time with wrong answers", With: func(d time.Duration) Fault { return &WrongAnswers{x.Node, x.With, d} }}
}

// Live implements Fault.
func (x *WrongAnswers) Live(Deployment) Live {
	return Live{Not: "the proxies of tier live do not read what they pass on"}
}
