package faults

import (
	"fmt"
	"time"

	"redlocksim/history"
	"redlocksim/sim"
)

// Fault is one thing that goes wrong. Its zero value does nothing harmful but may not be complete: see Check.
type Fault interface {
	// Check finds fields that make no sense among these processes. Nil means that Apply can be called.
	Check(Names) []Problem
	// Apply makes it happen, now. An error means that it cannot happen in this state: a node is killed twice.
	Apply(*Field) error
}

// Names are the processes that faults can strike.
type Names struct {
	Clients []string
	Nodes   []string // with all replicas
	// Replicas are those of a node.
	Replicas map[string][]string
	// Agree: the nodes without replicas send each other messages, as those of a service on consensus do.
	Agree bool
}

// Problem is a field of a fault that makes no sense.
type Problem struct {
	Field string   // its name in a scenario file
	Word  string   // the offending word; may be empty
	Valid []string // what would be right, if that is a list
	Text  string
}

// Field is a world in which faults strike, and the account of them.
type Field struct {
	World *sim.World
	// Spent is what the faults so far amount to.
	Spent Spent

	down   map[string]outage
	rates  map[string][]*rateInForce // by process, the latest last
	spells map[string]*spell         // by process, the latest

	inForce  []*remedy       // of the faults that may be in force, in the order in which they struck
	replaced map[string]bool // nodes whose place a replica has taken
	isHealed bool
}

// outage is how a node went down.
type outage struct {
	at     sim.True
	number int // tells it from the node's other outages
	lost   loss
	// comesBack: its restart is on its way.
	comesBack bool
}

// NewField is a world in which nothing has gone wrong yet.
func NewField(w *sim.World) *Field {
	return &Field{World: w, down: map[string]outage{}, rates: map[string][]*rateInForce{}, spells: map[string]*spell{}, replaced: map[string]bool{}}
}

// note records in the history that a fault happened.
func (f *Field) note(name, process, node string, size time.Duration, format string, args ...any) {
	f.World.Record(history.Event{Kind: history.Fault, Name: name, Process: process, Node: node,
		Span: int64(size), Detail: fmt.Sprintf(format, args...)})
}

// notePoint records a fault that strikes the process of this name, client or node.
func (f *Field) notePoint(name, process string, size time.Duration, format string, args ...any) {
	if f.World.Client(process) != nil {
		f.note(name, process, "", size, format, args...)
		return
	}
	f.note(name, "", process, size, format, args...)
}

func (n Names) all() []string {
	return append(append([]string(nil), n.Clients...), n.Nodes...)
}

func among(field, word string, valid []string, what string) []Problem {
	for _, v := range valid {
		if v == word {
			return nil
		}
	}
	return []Problem{{Field: field, Word: word, Valid: valid, Text: "there is no such " + what}}
}

func notNegative(field string, d time.Duration) []Problem {
	if d < 0 {
		return []Problem{{Field: field, Word: d.String(), Text: "must not be negative"}}
	}
	return nil
}

func positive(field string, d time.Duration) []Problem {
	if d <= 0 {
		return []Problem{{Field: field, Word: d.String(), Text: "must be positive"}}
	}
	return nil
}
