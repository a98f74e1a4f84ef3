package protocols

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/sim/kernel"
)

// session is what the clients of all protocols on plain Redis commands share.
type session struct {
	env   Env
	clock driver.Clock
	nodes []Redis
}

func newSession(env Env) session {
	return session{env: env, clock: env.LockClock(), nodes: env.Redis()}
}

// held is what the leases of most protocols have in common.
type held struct {
	ctx   context.Context // of the acquire
	ttl   time.Duration   // that it was asked for with
	until time.Time
}

func (h *held) Until() time.Time         { return h.until }
func (h *held) Context() context.Context { return context.Background() }
func (h *held) Token() (int64, bool)     { return 0, false }

// believe has the client believe in its lock until a moment by its lock clock.
func (h *held) believe(env Env, until time.Time) {
	h.until = until
	env.Believe(h.ctx, until)
}

// value draws a value that stands for one acquisition.
func (s *session) value() (string, error) {
	var raw [20]byte
	if _, err := io.ReadFull(s.env.Rand(), raw[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(raw[:]), nil
}

// answered notes a node's answer to a request for its vote, and gives the error that it comes to.
func (s *session) answered(ctx context.Context, node int, reply rediscmd.Reply, vote bool) error {
	outcome, err := driver.Failed, reply.Err
	switch {
	case errors.Is(err, rediscmd.ErrTimeout):
		outcome = driver.TimedOut
	case errors.Is(err, rediscmd.ErrReset):
		outcome = driver.Refused
	case err == nil && vote:
		outcome = driver.Accepted
	case err == nil:
		outcome, err = driver.Declined, redlock.ErrTaken
	}
	name := s.env.MasterOf(s.nodes[node].Node())
	s.env.Step(ctx, Step{Name: observe.NodeAnswered.String(), Node: name, Detail: outcome.Of(driver.OpAcquire)})
	return err
}

// do sends a request to a node, and waits so long for the reply.
func (s *session) do(node Redis, patience time.Duration, r rediscmd.Request) rediscmd.Reply {
	return node.Do(s.clock.Now().Add(patience), r)
}

// command sends a command to a node.
func (s *session) command(node int, args ...string) rediscmd.Reply {
	return s.do(s.nodes[node], s.env.Settings.NodeTimeout, rediscmd.Request{Args: args})
}

// script calls a script on a node.
func (s *session) script(node int, script *rediscmd.Script, keys []string, argv ...string) rediscmd.Reply {
	return s.do(s.nodes[node], s.env.Settings.NodeTimeout, rediscmd.Request{Script: script, Keys: keys, Argv: argv})
}

// deleted reads the reply of a command or script that answers 1 if the key was there and ours.
func deleted(reply rediscmd.Reply) error {
	switch {
	case reply.Err != nil:
		return reply.Err
	case reply.Value != any(int64(1)):
		return redlock.ErrLost
	}
	return nil
}

// milliseconds is a time as commands have it.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// random draws evenly from 0 to n−1.
func (s *session) random(n uint64) uint64 {
	var raw [8]byte
	_, _ = s.env.Rand().Read(raw[:]) // it never fails
	var key kernel.Key
	for _, b := range raw {
		key = key.With(uint64(b))
	}
	return key.Below(n)
}

// all is the numbers of all nodes.
func (s *session) all() []int {
	all := make([]int, len(s.nodes))
	for i := range all {
		all[i] = i
	}
	return all
}

// ask asks a node for something and waits for its reply.
type ask func(node int) rediscmd.Reply

// atOnce asks nodes at the same time, and gives each reply to got as it comes. It stops when got has heard enough.
func (s *session) atOnce(nodes []int, asks ask, got func(node int, reply rediscmd.Reply) (goOn bool)) {
	type answer struct {
		node  int
		reply rediscmd.Reply
	}
	var answers []answer
	tasks := s.env.Tasks()
	waiter := tasks.NewWaiter()
	for _, i := range nodes {
		tasks.Start(func() {
			reply := asks(i)
			answers = append(answers, answer{i, reply})
			waiter.Wake()
		})
	}
	for seen := range nodes {
		for seen == len(answers) {
			waiter.Wait(context.Background())
		}
		if !got(answers[seen].node, answers[seen].reply) {
			return
		}
	}
}
