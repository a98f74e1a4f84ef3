package faults

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/sim"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// Commands of clients to nodes are no events of a history but moments for triggers: named after what the command does to keys,
// and how far it has come.
var (
	intents  = []string{redis.Sets: "set", redis.Extends: "extend", redis.Deletes: "delete"}
	passages = []string{redis.Sent: "sent", redis.Arrived: "arrived", redis.Answered: "answered", redis.Broken: "broken"}
)

// CommandMoments lists the names of these moments.
func CommandMoments() []string {
	var names []string
	for _, intent := range intents[redis.Sets:] {
		for _, passage := range passages {
			names = append(names, intent+"-"+passage)
		}
	}
	return names
}

// isCommand says whether the moment is one of a command.
func (m *Moment) isCommand() bool { return slices.Contains(CommandMoments(), m.Event) }

// commandString names the moment of a command.
func (m *Moment) commandString() string {
	intent, passage, _ := strings.Cut(m.Event, "-")
	whose, to, how := "a client's", "", map[string]string{"sent": "is sent", "arrived": "has arrived", "answered": "was answered",
		"broken": "meets a broken connection"}
	if m.Client != "" {
		whose = m.Client + "'s"
	}
	if m.Node != "" {
		to = " to " + m.Node
	}
	return fmt.Sprintf("%s command to %s a key%s %s", whose, intent, to, how[passage])
}

// armCommand has f called when a command that the moment is about comes by: in a step of its own, as soon as what happens to
// the command at this moment has happened.
func (m *Moment) armCommand(w *sim.World, f func()) {
	intent, passage, _ := strings.Cut(m.Event, "-")
	last := 0 // message that was counted: it may have several commands
	trace.On(w.Events, func(a *redis.Asked) {
		if a.Message != last && intents[a.Intent] == intent && passages[a.At] == passage && (m.Client == "" || m.Client == a.Client.Name()) &&
			(m.Node == "" || m.Node == a.Server.Name()) && (m.Resource == "" || slices.Contains(a.Keys, m.Resource)) {
			last = a.Message
			w.Kernel.After(0, f)
		}
	})
}
