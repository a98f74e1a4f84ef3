package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// answers compares what the library says that nodes have answered with what they have.
type answers struct {
	run *Run
	of  byValue[answersTo]
	// nodes is memory for cells.
	nodes slab[answered]
}

// answersTo are those to the commands with the value of an attempt, by what these want and by the node.
type answersTo struct {
	keys int
	// rounds are those that have begun, by what they want. Two acquires are for two tokens.
	rounds [redis.Deletes + 1]int
	// givenUp is until when the answers to the first release are waited for, by the client's clock: a release that is sent late
	// has a later deadline.
	givenUp time.Time
	cells   [redis.Deletes + 1][]answered
}

// answered is what a node has answered to commands of a kind.
type answered struct {
	sent  uint8  // how often it was asked
	said  uint16 // the outcomes that it has answered
	vague bool   // an answer came in part, or says something about other commands as well
	// timely is the outcome that the client must have read in time, at a moment; Unanswered if there is none.
	timely driver.Outcome
	at     kernel.True
}

// wants is what the commands of an operation want.
var wants = [...]redis.Intent{driver.OpAcquire: redis.Sets, driver.OpExtend: redis.Extends, driver.OpRelease: redis.Deletes, driver.OpPrepare: redis.NoIntent}

func watchAnswers(r *Run) {
	if !r.isLibrary() || len(r.World.Replicas) > 0 {
		return
	}
	x := &answers{run: r, of: byValue[answersTo]{values: r.values}}
	r.onStep(x.observed, observe.AttemptStarted, observe.TokenRaised, observe.ExtendStarted, observe.Denied, observe.ReleaseStarted, observe.TakenBack, observe.NodeAnswered)
	r.onCommand(x.passes, redis.Sent, redis.Answered)
}

func (x *answers) passes(at redis.Passage, a *redis.Asked) {
	if of := x.of.of(a.Value); of != nil {
		x.takes(at, a, of)
	}
	for _, value := range a.More { // of a script for several commands each has one
		if of := x.of.of(value); of != nil {
			x.takes(at, a, of)
		}
	}
}

// takes notes a command with the value of an attempt, or the answer to it.
func (x *answers) takes(at redis.Passage, a *redis.Asked, of *answersTo) {
	node := slices.Index(x.run.World.Servers, a.Server)
	if node < 0 {
		return
	}
	if of.cells[a.Intent] == nil {
		of.cells[a.Intent] = x.nodes.take(len(x.run.World.Servers))
	}
	cell := &of.cells[a.Intent][node]
	cell.vague = cell.vague || len(a.Keys) > of.keys && x.isJoint(a, of.keys)
	switch {
	case at == redis.Sent:
		cell.sent++
	case a.Answer == driver.Unanswered:
		cell.vague = true
	default:
		cell.said |= 1 << a.Answer
		_, isTimely := x.run.hears(a)
		if isTimely && a.Intent == redis.Deletes {
			_, isTimely = x.run.reads(a.Client, of.givenUp)
		}
		if a.Answer != driver.Failed && a.Together == 1 && isTimely {
			cell.timely, cell.at = a.Answer, x.run.World.Kernel.Now()
		}
	}
}

// isJoint says whether a command is about more keys of locks than an attempt has: then its answer is one for several commands.
func (x *answers) isJoint(a *redis.Asked, keys int) bool {
	for _, key := range a.Keys {
		if slices.Contains(x.run.Resources, key) {
			keys--
		}
	}
	return keys < 0
}

func (x *answers) observed(client string, e *observe.Event) {
	if e.Step == observe.AttemptStarted {
		of := x.of.add(e.Value)
		of.keys = 1 + strings.Count(e.Resource, separator)
		of.rounds[redis.Sets] = 1
		return
	}
	of := x.of.of(e.Value)
	if of == nil {
		return
	}
	switch e.Step {
	case observe.TokenRaised:
		of.rounds[redis.Sets]++
	case observe.ExtendStarted:
		of.rounds[redis.Extends]++
	case observe.Denied, observe.ReleaseStarted:
		if of.rounds[redis.Deletes]++; of.givenUp.IsZero() {
			of.givenUp = x.run.clock(client).Add(x.run.Lock.NodeTimeout)
		}
	case observe.TakenBack:
		of.rounds[redis.Deletes]++
	case observe.NodeAnswered:
		x.run.Judged[checker.JudgeAnswers]++
		if wrong := x.wrong(client, e); wrong != "" {
			x.run.broken(checker.Contract, resourcesOf(e.Resource)[0], "%s reports that %s is %s to its %s, and %s", client, e.Node.Node, e.Node.Outcome, e.Op, wrong)
		}
	}
}

// wrong says what is wrong with an outcome; empty if nothing is known to be.
func (x *answers) wrong(client string, e *observe.Event) string {
	of := x.of.of(e.Value)
	node := slices.IndexFunc(x.run.World.Servers, func(s *redis.Server) bool { return s.Name() == e.Node.Node })
	if of == nil || node < 0 {
		return ""
	}
	var cell answered
	if cells := of.cells[wants[e.Op]]; cells != nil {
		cell = cells[node]
	}
	outcome := e.Node.Outcome
	switch isHeard := outcome != driver.TimedOut && outcome != driver.Refused; {
	case cell.vague:
		return ""
	case isHeard && cell.said&(1<<outcome) == 0:
		return "it has not answered so"
	case !isHeard && cell.sent == 1 && of.rounds[wants[e.Op]] == 1 && cell.timely != 0 && x.run.pauses.hasRun(x.run.World.Client(client), cell.at):
		return fmt.Sprintf("it has answered in time that it is %s", cell.timely)
	}
	return ""
}
