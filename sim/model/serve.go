package model

import (
	"errors"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// answer is what the node answers to a request: one reply for all its commands, or one for each.
type answer struct {
	fate batch.Fate
	all  driver.Reply
	each []driver.Reply

	found     int64 // the plain commands that the first contact has found, as in batch.Known.Learn
	noScripts bool  // the node forbids the script
}

func (a *answer) reply(command int) driver.Reply {
	if a.each != nil {
		return a.each[command]
	}
	return a.all
}

// Requests implements network.Batch.
func (x *exchange) Requests() int {
	n := len(x.message.Requests())
	if x.patience > 0 {
		n++ // the WAIT
	}
	return n
}

// execute carries out those requests of the message that have arrived.
func (x *exchange) execute(s *store) {
	requests := x.message.Requests()
	arrived := x.Arriving(x.Requests())
	requests = requests[:min(arrived, len(requests))]
	answers := x.one.answer[:0]
	for i := range requests {
		answers = append(answers, s.run(&requests[i], x.message.Looks()))
	}
	x.answers = answers
	if arrived == len(requests) {
		x.Exchange.Reply()
		return
	}
	s.server.Await(x.message.Replicas(), x.patience, func(confirmed int) {
		x.confirmed = confirmed
		x.Exchange.Reply()
	})
}

// run carries out one request. looks says that acquires find out what the server allows.
func (s *store) run(r *batch.Request, looks bool) answer {
	isScript := !r.Script.IsPlain() || r.Script == batch.None && looks
	switch {
	case isScript && s.server.Forbidden() == redis.Scripts:
		return answer{noScripts: true, all: s.forbidden()}
	case isScript && r.Script != batch.None && !r.InFull && !s.scripts.Has(r.Script):
		s.server.CountUnknownScript()
		return answer{fate: batch.Missed}
	case r.Script == batch.None && looks:
		s.scripts = s.scripts.With(batch.Acquire) // by which it comes
	case isScript:
		s.scripts = s.scripts.With(r.Script)
	}
	s.server.BeforeWrite()
	now := s.server.Clock().Wall().Milliseconds()
	if !isScript && r.Script != batch.None {
		return s.plain(r, now)
	}
	if isScript && s.meetsForbidden(r, now) {
		return answer{all: s.forbidden()}
	}
	a := answer{fate: batch.Ran}
	looks = looks && r.First.Op == driver.OpAcquire
	fails := looks && s.server.Forbidden() != ""
	if looks && !fails {
		a.found = s.firstContact(r, now)
	}
	switch r.Script {
	case batch.Releases:
		a.each = s.releases(r, now)
	case batch.Votes:
		a.each, a.all = s.votes(r, now, fails)
	default:
		a.all = s.apply(r.First, now, fails)
	}
	if isServerError(a.all.Err) || errors.Is(a.all.Err, errCommands) {
		a.fate = batch.Unanswered
	}
	return a
}

// isServerError: the script did not answer, as far as the shipped adapter can tell.
func isServerError(err error) bool {
	_, is := err.(rediscmd.ServerError)
	return is
}

// apply does what a command asks, atomically. An acquire fails if the node was found not to have what a lock needs.
func (s *store) apply(c *driver.Command, now int64, fails bool) driver.Reply {
	if fails && c.Op == driver.OpAcquire {
		if _, free := votes.Look(keys{s}, c, now); free {
			return s.forbidden()
		}
	}
	return votes.Do(keys{s}, c, now)
}

// releases is the adapter's releases.lua.
func (s *store) releases(r *batch.Request, now int64) []driver.Reply {
	replies := make([]driver.Reply, r.Len())
	for i := range replies {
		replies[i] = votes.Do(keys{s}, r.Command(i), now)
		if err := replies[i].Err; err != nil {
			replies[i].Err = errors.New(err.Error()) // the text in a list of answers, which is no error reply
		}
	}
	return replies
}

// votes is the adapter's votes.lua: the guard looks once for all.
func (s *store) votes(r *batch.Request, now int64, looks bool) (each []driver.Reply, all driver.Reply) {
	if all, fit := votes.Fit(keys{s}, r.First.Conditions, now); !fit {
		return nil, all
	}
	for i := range r.Len() {
		if _, taken := s.get(r.Command(i).Keys[0], now); looks && !taken {
			return nil, s.forbidden()
		}
	}
	each = make([]driver.Reply, r.Len())
	for i := range each {
		c := r.Command(i)
		each[i].Outcome = driver.Declined
		if _, taken := s.get(c.Keys[0], now); !taken {
			each[i].Outcome = driver.Accepted
			s.put(redis.Record{Key: c.Keys[0], Value: c.Value, ExpiresAt: now + c.TTL.Milliseconds()})
		}
	}
	return each, driver.Reply{}
}
