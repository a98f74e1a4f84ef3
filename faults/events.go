package faults

import (
	"slices"
	"strings"

	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// What a client does before it acts on the resource: it makes sure of its lease, and then acts, or stops because too
// little of the lease is left.
const (
	Checked = "checked"
	Stopped = "stopped"
	// Prepared and NotPrepared: a client has declared the nodes fit to vote, or could not.
	Prepared    = "prepared"
	NotPrepared = "not-prepared"
	// Closed: a client has been closed, and nothing of it is under way any more.
	Closed = "closed"
	// NewClient: a process has made another client in the place of the one before.
	NewClient = "new-client"
	// NoPermit: a call for a permit of a semaphore has ended without one.
	NoPermit = "no-permit"
	// NodesFree is no event of a history but a moment for a trigger: the first one after a grant to Client, on Resource if
	// that is given, at which Nth nodes that are up do not have the lock's key any more, by their own clocks.
	NodesFree = "nodes-free"
)

// EventName is how a trigger calls an event: a step of the library by its name; a call, its success and its failure as
// acquire-called, acquire-done and acquire-failed; an effect at the resource as write-effect; the end of a believed
// window as belief-ended; a crash and every other fault by its name.
func EventName(e *history.Event) string {
	switch e.Kind {
	case history.Step, history.Fault:
		return e.Name
	case history.Call:
		return string(e.Func) + "-called"
	case history.Return:
		if e.Outcome == history.OK {
			return string(e.Func) + "-done"
		}
		return string(e.Func) + "-failed"
	case history.Effect:
		return string(e.Func) + "-effect"
	case history.Expire:
		return "belief-ended"
	case history.Crash:
		return "crash"
	}
	return ""
}

// EventNames lists the names that EventName gives, but for the steps of protocols.
func EventNames() []string {
	names := []string{Checked, Stopped, Prepared, NotPrepared, Closed, NewClient, NoPermit, "belief-ended"}
	for _, f := range []history.Func{history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Mark} {
		names = append(names, string(f)+"-called", string(f)+"-done", string(f)+"-failed")
	}
	names = append(names, "read-effect", "write-effect", "mark-effect")
	for _, k := range vocabulary {
		names = append(names, k.Name)
	}
	names = append(names, NodesFree, CutOff)
	for _, k := range vocabulary {
		if k.Ends != "" {
			names = append(names, k.Ends)
		}
	}
	return append(names, healed)
}

// Commands of clients to nodes are no events of a history but moments for triggers: named after what the command does to keys,
// and how far it has come.
var (
	intents = []string{redis.Sets: "set", redis.Extends: "extend", redis.Deletes: "delete"}
	passing = []string{redis.Sent: "sent", redis.Arrived: "arrived", redis.Answered: "answered", redis.Broken: "broken"}
	// passages are these in a sentence.
	passages = []string{redis.Sent: "is sent", redis.Arrived: "has arrived", redis.Answered: "was answered",
		redis.Broken: "meets a broken connection"}
)

// CommandMoments lists the names of these moments.
func CommandMoments() []string {
	var names []string
	for _, intent := range intents[redis.Sets:] {
		for _, at := range passing {
			names = append(names, intent+"-"+at)
		}
	}
	return names
}

// command is what a command does at whose moment this is, and how far it has come; false if it is no such moment.
func (m *Moment) command() (intent string, at redis.Passage, is bool) {
	intent, word, _ := strings.Cut(m.Event, "-")
	return intent, redis.Passage(slices.Index(passing, word)), slices.Contains(CommandMoments(), m.Event)
}
