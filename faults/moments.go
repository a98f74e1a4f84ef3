package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// Trigger is a moment of a run: a true time, or a named event and a while after it. The zero Trigger is the beginning.
type Trigger struct {
	// At is a true time; used if After is nil.
	At time.Duration
	// After is an event to wait for.
	After *Moment
	// Every has it happen at each such event from the Nth on, not only at that.
	Every bool
	// Plus is how long after the event.
	Plus time.Duration
}

// Moment is an event of a run, by what happened and to whom.
type Moment struct {
	// Event is the name of the event. nodes-free and those of commands (set-sent, extend-arrived, delete-answered ...) are
	// moments to wait for, and no events that a history has. Example: acquire-done
	Event string `yaml:"event,required"`
	// Client is whose event or command it is. Default: any client. Example: client-1
	Client string `yaml:"client"`
	// Node is which node's answer or fault it is, or to which node the command goes. Default: any node. Example: C
	Node string `yaml:"node"`
	// Resource is which resource's event it is, or the key of the command. Default: any resource. Example: orders
	Resource string `yaml:"resource"`
	// Nth counts the events that match, from 1; 0 is the first as well. Default: 1. Example: 2
	Nth int `yaml:"nth" range:"0.."`
	// Lead is how long before the event; only for nodes-free, which is known ahead. Default: 0s. Example: 1ms
	Lead time.Duration `yaml:"lead" range:"0s.."`
}

func (m *Moment) String() string {
	intent, passage, isCommand := m.command()
	var text string
	switch {
	case m.Event == NodesFree:
		return m.freeString()
	case isCommand:
		to := ""
		if m.Node != "" {
			to = " to " + m.Node
		}
		text = fmt.Sprintf("%s's command to %s a key%s %s", cmp.Or(m.Client, "a client"), intent, to, passages[passage])
	default:
		text = strings.TrimPrefix(m.Client+" "+m.Event, " ")
		if m.Node != "" {
			text += " of " + m.Node
		}
	}
	if m.Resource != "" {
		text += " on " + m.Resource
	}
	if m.Nth > 1 {
		text += fmt.Sprintf(", time %d", m.Nth)
	}
	return text
}

func (t Trigger) String() string {
	word := "after"
	if t.Every {
		word = "after every"
	}
	switch {
	case t.After == nil:
		return "at " + t.At.String()
	case t.Plus > 0:
		return fmt.Sprintf("%v %s %v", t.Plus, word, t.After)
	}
	return word + " " + t.After.String()
}

// Arm has do called when the moment comes, once unless Every is set: at that very step if Plus is zero, before anything else
// happens. At the moment of a command it is called a step later, at the same time. It must be called before the run starts.
func (t Trigger) Arm(f *Field, do func()) {
	if t.After == nil {
		f.ground.At(kernel.True(t.At), do)
		return
	}
	if t.After.Event == NodesFree {
		t.After.armFree(f.simulated(), do)
		return
	}
	left := max(t.After.Nth, 1)
	comes := func(at kernel.True) {
		if left--; left == 0 || left < 0 && t.Every {
			if t.Plus > 0 {
				f.ground.At(at.Add(t.Plus), do)
			} else {
				do()
			}
		}
	}
	if intent, passage, isCommand := t.After.command(); isCommand {
		last := 0 // message that was counted: it may have several commands
		trace.On(f.simulated().Events, func(a *redis.Asked) {
			if m := t.After; a.Message != last && intents[a.Intent] == intent && a.At == passage && (m.Client == "" || m.Client == a.Client.Name()) &&
				(m.Node == "" || m.Node == a.Server.Name()) && (m.Resource == "" || slices.Contains(a.Keys, m.Resource)) {
				last = a.Message
				f.after(0, func() { comes(f.ground.Now()) }) // as soon as what happens to the command now has happened
			}
		})
		return
	}
	f.ground.Hear(func(at kernel.True, e *history.Event) {
		if t.After.Matches(e) {
			comes(at)
		}
	})
}

// IsRecorded says whether the moment is an event of the history, and not only a moment for things to happen at.
func (m *Moment) IsRecorded() bool {
	_, _, isCommand := m.command()
	return m.Event != NodesFree && !isCommand
}

// Matches says whether an event is one that the moment is about. A step of a lock on several resources is each one's.
func (m *Moment) Matches(e *history.Event) bool {
	return EventName(e) == m.Event && (m.Client == "" || m.Client == e.Process) && (m.Node == "" || m.Node == e.Node) &&
		(m.Resource == "" || m.Resource == e.Resource || slices.Contains(strings.Split(e.Resource, ", "), m.Resource))
}

// Placed is a fault with its moment.
type Placed struct {
	When  Trigger
	Fault Fault
	// Injected is set once the fault was; Err is why it could not be, when its moment came last.
	Injected bool
	Err      error
}

// Arm has the fault wait for its moment.
func (p *Placed) Arm(f *Field) { p.When.Arm(f, func() { p.fire(f) }) }

// fire injects the fault, now. It is not injected after the faults were healed.
func (p *Placed) fire(f *Field) {
	if f.isHealed {
		if !p.Injected {
			p.Err = errHealed
		}
		return
	}
	p.Err = p.Fault.Inject(f)
	if p.Injected = p.Err == nil; p.Injected {
		f.injected(p.Fault)
	}
}
