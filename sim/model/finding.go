package model

import (
	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// finding asks a server that forbids scripts for the plain commands that a lock needs, as the adapter does.
type finding struct {
	network.Exchange
	node    *node
	first   *driver.Command // whose key and deadline it has
	then    func(batch.Tried)
	answers []bool // of the three tries: the server has the command
	heard   int    // how many of these have arrived
	timer   driver.Timer
}

// tries is how many commands a finding tries.
const tries = 3

// findPlain asks the server, for a command that missed, and calls then with what came of it.
func (n *node) findPlain(first *driver.Command, key kernel.Key, then func(batch.Tried)) {
	f := &finding{node: n, first: first, then: then}
	if !n.client.ProgramClock().Now().Before(first.Deadline) {
		n.client.Tasks().Start(f.done)
		return
	}
	n.link.Open(&f.Exchange, key, f)
	f.wait()
}

// wait starts the timer of the deadline.
func (f *finding) wait() {
	clock := f.node.client.ProgramClock()
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
	tried := batch.Tried{Heard: f.heard == tries}
	for i, has := range f.answers[:f.heard] {
		if has {
			tried.Found |= 1 << i
		}
	}
	f.then(tried)
}
