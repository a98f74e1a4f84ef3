package protocols

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
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
	name := s.env.Serving(s.nodes[node].Node())
	s.env.Step(ctx, Step{Name: observe.NodeAnswered.String(), Node: name, Detail: outcome.Of(driver.OpAcquire)})
	return err
}

// command sends a command to a node.
func (s *session) command(ctx context.Context, node int, args ...string) rediscmd.Reply {
	return s.commandWithin(ctx, s.env.Settings.NodeTimeout, node, args...)
}

// commandWithin is command for one that may take longer than others.
func (s *session) commandWithin(_ context.Context, patience time.Duration, node int, args ...string) rediscmd.Reply {
	return s.nodes[node].Do(s.clock.Now().Add(patience), rediscmd.Request{Args: args})
}

// script calls a script on a node.
func (s *session) script(_ context.Context, node int, script *rediscmd.Script, keys []string, argv ...string) rediscmd.Reply {
	return s.nodes[node].Do(s.clock.Now().Add(s.env.Settings.NodeTimeout), rediscmd.Request{Script: script, Keys: keys, Argv: argv})
}

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
