package model

import (
	"math"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Conn implements redis.Tier.
func (b *backend) Conn(client *kernel.Process, s *redis.Server, l *network.Link) redis.Conn {
	return &plain{client: client, name: s.Name(), link: l}
}

// plain is a client's plain connection to a node.
type plain struct {
	client *kernel.Process
	name   string
	link   *network.Link
}

func (p *plain) Node() string { return p.name }

// Do implements redis.Conn.
func (p *plain) Do(key kernel.Key, deadline time.Time, r rediscmd.Request) rediscmd.Reply {
	reply := p.roundTrip(key, deadline, r, false)
	if e, isError := reply.Err.(rediscmd.ServerError); isError && r.Script != nil && strings.HasPrefix(string(e), "NOSCRIPT") {
		if !p.client.ProgramClock().Now().Before(deadline) {
			return rediscmd.Reply{Err: rediscmd.ErrTimeout}
		}
		reply = p.roundTrip(key.With(1), deadline, r, true)
	}
	return reply
}

// request is one request on its way to a node and back.
type request struct {
	redis.RoundTrip
	rediscmd.Request
	withBody bool
	deadline time.Time
	reply    rediscmd.Reply
}

func (p *plain) roundTrip(key kernel.Key, deadline time.Time, r rediscmd.Request, withBody bool) rediscmd.Reply {
	x := &request{Request: r, withBody: withBody, deadline: deadline}
	if !x.Await(p.link, key, deadline, x) {
		return rediscmd.Reply{Err: rediscmd.ErrTimeout}
	}
	return x.reply
}

// Purpose implements network.Purposeful.
func (x *request) Purpose() string {
	if x.Script != nil {
		return "script"
	}
	return x.Args[0]
}

// Broken implements network.Client.
func (x *request) Broken() {
	x.reply = rediscmd.Reply{Err: rediscmd.ErrReset}
	x.Answered()
}

func (x *request) serve(s *store) {
	var value any
	switch {
	case x.Script == nil:
		s.server.BeforeWrite()
		value = s.call(x.Args...)
	case !x.withBody && !s.known[x.Script]:
		value = rediscmd.ServerError("NOSCRIPT No matching script. Please use EVAL.")
	default:
		s.server.BeforeWrite()
		s.known[x.Script] = true
		value = s.script(x.Script, x.Keys, x.Argv)
	}
	if e, isError := value.(rediscmd.ServerError); isError {
		x.reply = rediscmd.Reply{Err: e}
	} else {
		x.reply = rediscmd.Reply{Value: value}
	}
	x.Reply()
}

// script runs a script, which an error of one of its calls ends: that is what redis.call does.
func (s *store) script(script *rediscmd.Script, keys, argv []string) (value any) {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case rediscmd.ServerError:
			value = ended
		default:
			panic(ended)
		}
	}()
	return script.Model(func(args ...string) any {
		reply := s.callFromLua(args...)
		if e, isError := reply.(rediscmd.ServerError); isError {
			panic(e)
		}
		return reply
	}, keys, argv)
}

// callFromLua is call with what becomes of an integer in Lua, whose numbers are doubles: beyond 2^53 it is rounded, and if that
// is beyond the largest integer the smallest comes out, as on servers for amd64.
func (s *store) callFromLua(args ...string) any {
	reply := s.call(args...)
	n, isInteger := reply.(int64)
	switch f := float64(n); {
	case !isInteger:
		return reply
	case f >= 1<<63:
		return int64(math.MinInt64)
	default:
		return int64(f)
	}
}
