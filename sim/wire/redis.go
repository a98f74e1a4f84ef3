package wire

import (
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/sim"
)

// Redis implements sim.Backend: go-redis itself, used by a program of the client.
func (b *backend) Redis(client *sim.Process, s *sim.Server, l *sim.Link) sim.Redis {
	return &plainRedis{conn: redisconn.New(b.newClient(client, l), client.LockClock()), client: client, name: s.Name()}
}

type plainRedis struct {
	conn   redisconn.Conn
	client *sim.Process
	name   string
}

func (p *plainRedis) Node() string { return p.name }

// Do implements sim.Redis.
func (p *plainRedis) Do(key sim.Key, deadline time.Time, r rediscmd.Request) (reply rediscmd.Reply) {
	p.client.RequestingHere(key, func() { reply = p.conn.Do(deadline, r) })
	return reply
}
