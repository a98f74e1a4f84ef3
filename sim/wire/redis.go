package wire

import (
	"time"

	"redlocksim/internal/plain"
	"redlocksim/sim"
)

// Redis implements sim.Backend: go-redis itself, used by a program of the client.
func (b *backend) Redis(client *sim.Process, s *sim.Server, l *sim.Link) sim.Redis {
	return &plainRedis{conn: plain.New(b.newClient(client, l), client.LockClock()), client: client, name: s.Name()}
}

type plainRedis struct {
	conn   plain.Conn
	client *sim.Process
	name   string
}

func (p *plainRedis) Node() string { return p.name }

// Do implements sim.Redis.
func (p *plainRedis) Do(key sim.Key, deadline time.Time, r sim.Request) (reply sim.Reply) {
	p.client.RequestingHere(key, func() { reply = p.conn.Do(deadline, r) })
	return reply
}
