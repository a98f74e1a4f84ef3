package model

import (
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// look is what the adapter's first contact finds out about a server, by needs.lua.
type look struct {
	fails bool  // the server does not allow what a lock needs
	found int64 // as in batch.Known.Learn
}

// firstContact is what the script for a request finds if it looks.
func (s *store) firstContact(r *batch.Request, looks bool, now int64) (l look) {
	if !looks || r.First.Op != driver.OpAcquire {
		return l
	}
	for i := range r.Len() {
		if slices.ContainsFunc(r.Command(i).Keys, func(key string) bool { return s.isFree(key, now) }) { // otherwise nothing is tried
			l.found = s.plainCommands()
		}
	}
	if f := s.server.Forbidden(); f == "" || s.server.Refuses(f, nil, true) == "" || isPlainCommand(f) {
		return l
	}
	all, enough := batch.FoundEnough(l.found)
	if !batch.SuitsPlain(r.First) || !enough {
		return look{fails: true}
	}
	return look{found: all}
}

// isFree reports whether there is no such key, or one that has expired.
func (s *store) isFree(key string, now int64) bool {
	r, there := s.keys[key]
	return !there || r.expiresAt != 0 && now > r.expiresAt
}

// isPlainCommand reports whether a lock can do without a command that only newer servers have.
func isPlainCommand(name string) bool { return name == "DELIFEQ" || name == "DELEX" }

// plainCommands are those that the server has and allows, as in batch.Known.Learn.
func (s *store) plainCommands() (found int64) {
	for i, command := range [...][]string{{"DELIFEQ"}, {"DELEX"}, {"SET", "", "", "IFEQ"}} {
		if s.server.Refuses(command[0], command[1:], false) == "" {
			found |= 1 << i
		}
	}
	return found
}

// names are the plain commands as requests have them.
var names = map[batch.Script]string{batch.None: "SET", batch.DelIfEq: "DELIFEQ", batch.DelEx: "DELEX", batch.SetIfEq: "SET"}

// errWrongForCondition is what DELEX answers about a key that is not a string.
const errWrongForCondition = rediscmd.ServerError("ERR Key should be of string type if conditions are specified")

// plain carries out a request that is DELIFEQ, DELEX with IFEQ or SET with IFEQ.
func (s *store) plain(r *batch.Request, now int64) answer {
	var args []string
	if r.Script == batch.SetIfEq {
		args = []string{"", "", "IFEQ"}
	}
	if s.server.Refuses(names[r.Script], args, false) != "" {
		return answer{fate: batch.Missed}
	}
	c := r.First
	held, there := s.get(c.Keys[0], now)
	reply := driver.Reply{Outcome: driver.Declined}
	switch {
	case there && !redis.IsString(held.value) && r.Script == batch.DelEx:
		reply = driver.Reply{Outcome: driver.Failed, Err: errWrongForCondition}
	case there && !redis.IsString(held.value):
		reply = driver.Reply{Outcome: driver.Failed, Err: errWrongType}
	case !there || held.value != c.Value:
	case r.Script == batch.SetIfEq:
		s.put(c.Keys[0], record{c.Value, now + c.TTL.Milliseconds(), held.set})
		reply.Outcome = driver.Accepted
	default:
		s.take(c.Keys[0])
		reply.Outcome = driver.Accepted
	}
	return answer{all: reply}
}

// finding asks a server that forbids scripts for the plain commands that a lock needs, as the adapter does.
type finding struct {
	network.Exchange
	of      *exchange
	first   *driver.Command   // whose key and deadline it has
	missed  []*driver.Command // that wait for it, among them first
	key     kernel.Key
	answers []bool // of the three tries: the server has the command
	heard   int    // how many of these have arrived
	timer   driver.Timer
}

// tries is how many commands a finding tries.
const tries = 3

// findPlain asks the server, and sends the commands again when it has answered.
func (x *exchange) findPlain(missed []*driver.Command) {
	n := x.node
	f := &finding{of: x, first: missed[0], missed: missed, key: x.key.With(1)}
	clock := n.client.ProgramClock()
	if !clock.Now().Before(missed[0].Deadline) {
		n.client.Tasks().Start(func() { f.done() })
		return
	}
	n.link.Open(&f.Exchange, f.key, f)
	f.wait()
}

// wait starts the timer of the deadline.
func (f *finding) wait() {
	clock := f.of.node.client.ProgramClock()
	f.timer = clock.AfterFunc(f.first.Deadline.Sub(clock.Now()), func() {
		f.Abandon()
		f.done()
	})
}

// Requests implements network.Batch.
func (f *finding) Requests() int { return tries }

// Purpose implements network.Purposeful.
func (f *finding) Purpose() string { return "plain commands" }

// Command implements redis.Asking: all of them write.
func (f *finding) Command() []string { return []string{"DELIFEQ"} }

// Answer implements redis.Asking: nothing that a server answers to all commands is what these answer.
func (f *finding) Answer(any) { f.answers = make([]bool, f.Arriving(tries)) }

// Commands implements redis.Commanding.
func (f *finding) Commands(all []redis.Command) []redis.Command {
	c := f.first
	for i, intent := range [tries]redis.Intent{redis.Deletes, redis.Deletes, redis.Extends} {
		answer := driver.Unanswered
		if i < len(f.answers) {
			if answer = driver.Failed; f.answers[i] {
				answer = driver.Declined
			}
		}
		all = append(all, redis.Command{Intent: intent, Keys: c.Keys[:1], Value: c.Value + "?", Deadline: c.Deadline, Answer: answer})
	}
	return all
}

// Phrases implements redis.Phrased.
func (f *finding) Phrases() []redis.Phrase {
	return []redis.Phrase{{Command: "DELIFEQ", Keys: 1}, {Command: "DELEX", Keys: 1}, {Command: "SET", Keys: 1}}
}

var (
	_ redis.Asking     = (*finding)(nil)
	_ redis.Commanding = (*finding)(nil)
	_ redis.Phrased    = (*finding)(nil)
)

func (f *finding) serve(s *store) {
	found := s.plainCommands()
	for i := range f.Arriving(tries) {
		f.answers = append(f.answers, found&(1<<i) != 0)
	}
	f.Reply()
}

// Answered implements network.Client.
func (f *finding) Answered() {
	heard, reset := f.Answers(tries)
	f.heard = heard
	if heard == tries || reset {
		f.done()
		return
	}
	f.timer.Stop() // the adapter waits anew
	f.wait()
}

// Broken implements network.Client.
func (f *finding) Broken() { f.done() }

// done takes the answers that have come, and sends the commands again.
func (f *finding) done() {
	if f.timer != nil {
		f.timer.Stop()
	}
	var found int64
	for i, has := range f.answers[:f.heard] {
		if has {
			found |= 1 << i
		}
	}
	as, again := f.of.trial.Asked(&f.of.node.known, found, f.missed, func(c *driver.Command) { c.Done(c, f.of.node.store.scriptsForbidden()) })
	if len(again) > 0 {
		f.of.again(again, f.key, as)
	}
}
