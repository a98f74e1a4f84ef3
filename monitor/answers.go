package monitor

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
	keys    int
	began   kernel.True
	started time.Time // the same, by the client's clock
	// rounds are those that have begun, by what they want. Two acquires are for two tokens.
	rounds [redis.Deletes + 1]int
	// over is when the attempt ended without a grant, or the release of the lock began; 0 before that.
	over kernel.True
	// givenUp is until when the answers to the first release are waited for, by the client's clock: a release that is sent late
	// has a later deadline.
	givenUp time.Time
	cells   [redis.Deletes + 1][]answered
}

// answered is what a node has answered to commands of a kind.
type answered struct {
	sent  uint8  // how often it was asked
	read  uint8  // how often the client must have read an answer in time
	said  uint16 // the outcomes that it has answered
	vague bool   // an answer came in part, or says something about other commands as well
	// isBroken says that the connection broke under a command.
	isBroken bool
	// timely is the outcome that the client must have read in time, at a moment; Unanswered if there is none.
	timely driver.Outcome
	at     kernel.True
	// reads are that moment and the one before, by the client's clock since the attempt started.
	reads [2]time.Duration
	// deadline is until when the client waits for the answer to the last command, likewise; zero if that is not known, as it
	// went with others.
	deadline time.Duration
}

// isRead says whether it is known when the client has read each answer: there is one round, or with a second token two.
func (c *answered) isRead() bool { return c.sent == 1 || c.sent == 2 && c.read > 1 }

// hasTaken says whether an answer must have been read so long after the attempt started.
func (c *answered) hasTaken(d time.Duration) bool {
	return c.read > 0 && c.reads[0] == d || c.read > 1 && c.reads[1] == d
}

// wants is what the commands of an operation want.
var wants = [...]redis.Intent{driver.OpAcquire: redis.Sets, driver.OpExtend: redis.Extends, driver.OpRelease: redis.Deletes, driver.OpPrepare: redis.NoIntent}

func watchAnswers(r *Run) {
	if !r.isLibrary() || len(r.World.Replicas) > 0 {
		return
	}
	x := &answers{run: r, of: byValue[answersTo]{values: r.values}}
	r.onStep(x.observed, observe.AttemptStarted, observe.TokenRaised, observe.ExtendStarted, observe.Denied, observe.ReleaseStarted, observe.TakenBack, observe.NodeAnswered)
	r.onCommand(x.passes, redis.Sent, redis.Answered, redis.Broken)
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
		if cell.deadline = 0; a.Together == 1 && !a.Deadline.IsZero() {
			cell.deadline = a.Deadline.Sub(of.started)
		}
	case at == redis.Broken:
		cell.isBroken = true
	case a.Answer == driver.Unanswered:
		cell.vague = true
	default:
		cell.said |= 1 << a.Answer
		if a.Answer != driver.Failed && a.Together == 1 && x.isTimely(a, of) {
			cell.timely, cell.at = a.Answer, x.run.World.Kernel.Now()
			cell.read++
			cell.reads = [2]time.Duration{a.Client.ProgramClock().Now().Sub(of.started), cell.reads[0]}
		}
	}
}

// isTimely says whether the client must have read an answer in time.
func (x *answers) isTimely(a *redis.Asked, of *answersTo) bool {
	_, isTimely := x.run.hears(a)
	if isTimely && a.Intent == redis.Deletes {
		_, isTimely = x.run.reads(a.Client, of.givenUp)
	}
	return isTimely
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
		of.keys, of.began, of.started = 1+strings.Count(e.Resource, separator), x.run.World.Kernel.Now(), x.run.clock(client)
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
		of.rounds[redis.Deletes]++
		if of.over == 0 {
			of.over, of.givenUp = x.run.World.Kernel.Now(), x.run.clock(client).Add(x.run.Lock.NodeTimeout)
		}
	case observe.TakenBack:
		of.rounds[redis.Deletes]++
		if why := x.whyNeedless(client, e); why != "" {
			x.run.broken(checker.Conduct, resourcesOf(e.Resource)[0], "%s takes a vote of %s back, which its release deletes: %s", client, e.Node.Node, why)
		}
	case observe.NodeAnswered:
		x.run.Judged[checker.JudgeAnswers]++
		if wrong := x.wrong(client, e); wrong != "" {
			x.run.broken(checker.Contract, resourcesOf(e.Resource)[0], "%s reports that %s is %s to its %s, and %s", client, e.Node.Node, e.Node.Outcome, e.Op, wrong)
		}
	}
}

// whyNeedless says why a vote need not be taken back that came when the lock was released: by the answer to the release, the
// key is deleted, or the release is still to be answered. With two tokens, the node may have voted once more. Empty if it must
// be, or that is not known.
func (x *answers) whyNeedless(client string, e *observe.Event) string {
	of := x.of.of(e.Value)
	node := slices.IndexFunc(x.run.World.Servers, func(s *redis.Server) bool { return s.Name() == e.Node.Node })
	if of == nil || of.rounds[redis.Sets] > 1 || node < 0 || of.cells[redis.Deletes] == nil || x.run.StepTime > 0 {
		return ""
	}
	cell := &of.cells[redis.Deletes][node]
	switch {
	case cell.vague || cell.isBroken || cell.sent != 1:
		return ""
	case cell.timely == driver.Accepted && x.run.pauses.hasRun(x.run.World.Client(client), cell.at):
		return "the node has said so"
	case cell.said == 0 && x.run.clock(client).Sub(of.started) < cell.deadline && x.run.clock(client).Before(of.givenUp):
		return "the node has not answered yet"
	}
	return ""
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
	case !isHeard && cell.sent == 0 && x.isMoot(client, of, e.Op):
		return fmt.Sprintf("its command was never sent, and pointless: the lock was let go of %v before", x.run.World.Kernel.Now().Sub(of.over))
	case e.Op == driver.OpAcquire && cell.timely == outcome && x.run.StepTime == 0 && cell.isRead() && x.run.pauses.hasRun(x.run.World.Client(client), of.began):
		if !cell.hasTaken(e.Node.Took) {
			return fmt.Sprintf("took %v for it, when it has answered after %v", e.Node.Took, cell.reads[0])
		}
	}
	return ""
}

// isMoot says whether commands that were to ask for a lock, or to extend it, must have been dropped if they were not sent:
// those before them hold them up for a quarter of the node timeout. A second extend may be told from the first by nothing.
func (x *answers) isMoot(client string, of *answersTo, op driver.Op) bool {
	if op == driver.OpRelease || of.over == 0 || x.run.StepTime > 0 || of.rounds[wants[op]] > 1 {
		return false
	}
	dropped := of.over.Add(x.run.Lock.NodeTimeout/4 + rounding)
	return x.run.World.Kernel.Now() > dropped && x.run.pauses.hasRun(x.run.World.Client(client), of.over)
}
