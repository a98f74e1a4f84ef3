package wire

import (
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Conn implements redis.Tier: go-redis itself, used by a program of the client.
func (b *backend) Conn(client *kernel.Process, s *redis.Server, l *network.Link) redis.Conn {
	return &plainRedis{conn: redisconn.New(b.clients.client(client, l, false), client.ProgramClock()), client: client, name: s.Name(), intents: b.clients.intents}
}

type plainRedis struct {
	conn   redisconn.Conn
	client *kernel.Process
	name   string
	intents
}

func (p *plainRedis) Node() string { return p.name }

// Do implements redis.Conn.
func (p *plainRedis) Do(key kernel.Key, deadline time.Time, r rediscmd.Request) (reply rediscmd.Reply) {
	if r.Script != nil {
		p.intents.of(r.Script.Lua) // it is sent by its hash
	}
	p.client.WithBaggageHere(key, func() { reply = p.conn.Do(deadline, r) })
	return reply
}
