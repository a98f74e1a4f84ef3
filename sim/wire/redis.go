package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/sim"
)

// Redis implements sim.Backend: go-redis itself, used by a program of the client.
func (b *backend) Redis(client *sim.Process, s *sim.Server, l *sim.Link) sim.Redis {
	c := b.newClient(client, l)
	return &plain{redis: c, client: client, name: s.Name(), hashes: map[*sim.Script]string{}}
}

type plain struct {
	redis  *redis.Client
	client *sim.Process
	name   string
	hashes map[*sim.Script]string
}

func (p *plain) Node() string { return p.name }

// Do implements sim.Redis.
func (p *plain) Do(key sim.Key, deadline time.Time, r sim.Request) (reply sim.Reply) {
	p.client.RequestingHere(key, func() {
		if r.Script == nil {
			reply = p.roundTrip(deadline, words(r.Args))
			return
		}
		hash, ok := p.hashes[r.Script]
		if !ok {
			hash = redis.NewScript(r.Script.Lua).Hash()
			p.hashes[r.Script] = hash
		}
		rest := append([]any{len(r.Keys)}, append(words(r.Keys), words(r.Argv)...)...)
		reply = p.roundTrip(deadline, append([]any{"evalsha", hash}, rest...))
		e, isError := reply.Err.(sim.ServerError)
		if !isError || !strings.HasPrefix(string(e), "NOSCRIPT") {
			return
		}
		if !p.client.LockClock().Now().Before(deadline) {
			reply = sim.Reply{Err: sim.ErrTimeout}
			return
		}
		reply = p.roundTrip(deadline, append([]any{"eval", r.Script.Lua}, rest...))
	})
	return reply
}

func words(texts []string) []any {
	all := make([]any, len(texts))
	for i, t := range texts {
		all[i] = t
	}
	return all
}

func (p *plain) roundTrip(deadline time.Time, args []any) sim.Reply {
	ctx, cancel := p.client.LockClock().WithDeadline(context.Background(), deadline)
	defer cancel()
	value, err := p.redis.Do(ctx, args...).Result()
	var server redis.Error
	var op *net.OpError
	switch {
	case err == nil:
		return sim.Reply{Value: value}
	case errors.Is(err, redis.Nil):
		return sim.Reply{}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return sim.Reply{Err: sim.ErrTimeout}
	case errors.As(err, &op):
		return sim.Reply{Err: sim.ErrReset}
	case errors.As(err, &server):
		return sim.Reply{Err: sim.ServerError(server.Error())}
	}
	return sim.Reply{Err: err}
}
