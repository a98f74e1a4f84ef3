package model

import (
	"context"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/script"
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
	network.RoundTrip
	rediscmd.Request
	withBody bool
	deadline time.Time
	reply    rediscmd.Reply
}

func (p *plain) roundTrip(key kernel.Key, deadline time.Time, r rediscmd.Request, withBody bool) rediscmd.Reply {
	x := &request{Request: r, withBody: withBody, deadline: deadline}
	if !x.Await(context.Background(), p.link, key, deadline, x) {
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

func (x *request) execute(s *store) {
	var value any
	switch {
	case x.Name() == "WAIT":
		s.server.Wait(x.Args[1:], func(value any) {
			x.Answer(value)
			x.Reply()
		})
		return
	case x.Script == nil:
		s.server.BeforeWrite()
		value = s.call(x.Args)
	case !x.withBody && !s.known[x.Script]:
		value = script.Unknown
	default:
		s.server.BeforeWrite()
		s.known[x.Script] = true
		value = s.lua().Eval(x.Script.Lua, x.Keys, x.Argv)
	}
	x.Answer(value)
	x.Reply()
}

// lua are the scripts of the node that are not the library's.
func (s *store) lua() *script.Scripts {
	if s.interpreted == nil {
		s.interpreted = script.New(s.call)
	}
	return s.interpreted
}
