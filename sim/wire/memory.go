package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"redlocksim/sim/redis"
)

// memory is a node: a miniredis that is called directly, by one request after the other.
type memory struct {
	server *redis.Server
	redis  *miniredis.Miniredis
	db     *miniredis.RedisDB
	expiry expiry
	peer   *server.Peer // who the requests come from
	out    bytes.Buffer
	lua    *scripts
}

func newMemory(s *redis.Server) *memory {
	m := &memory{server: s, redis: miniredis.NewMiniRedis()}
	// A miniredis without sockets starts with the first connection that is dialed to it.
	c, err := m.redis.Dial()
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	_ = c.Close()
	m.db = m.redis.DB(0)
	m.peer = server.NewPeer(bufio.NewWriter(&m.out))
	m.expiry = expiry{redis: m.redis, db: m.db, deadlines: map[string]int64{}}
	m.lua = newScripts(m.redis.Server())
	m.redis.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		if command == "PUBLISH" && len(args) == 2 {
			c.WriteInt(s.Publish(args[0], args[1]))
			return true
		}
		if command == "EVAL" || command == "EVALSHA" {
			m.lua.eval(c, command, args)
			return true
		}
		if command == "INFO" && len(args) == 1 && strings.EqualFold(args[0], "server") { // a section that miniredis lacks
			c.WriteBulk("# Server\r\nrun_id:" + s.RunID() + "\r\n")
			return true
		}
		return m.expiry.hook(c, command, args...)
	})
	return m
}

func (m *memory) close() { m.redis.Close() }

// now is what the node's wall clock reads, in the unit in which Redis expires keys.
func (m *memory) now() int64 { return m.server.Clock().Wall().Milliseconds() }

// do runs a command and returns the reply.
func (m *memory) do(args []string) []byte {
	if m.isUnknownScript(args) {
		m.server.CountUnknownScript()
	} else {
		m.server.BeforeWrite()
	}
	m.expiry.before(m.now(), args)
	reply := m.dispatch(args...)
	m.expiry.after(args)
	return reply
}

// isUnknownScript: the command is going to be answered with NOSCRIPT, and changes nothing.
func (m *memory) isUnknownScript(args []string) bool {
	return strings.EqualFold(args[0], "evalsha") && !m.lua.knows(args[1])
}

func (m *memory) dispatch(args ...string) []byte {
	m.out.Reset()
	m.redis.Server().Dispatch(m.peer, args)
	m.peer.Flush()
	return slices.Clone(m.out.Bytes())
}

// Dump implements redis.Memory.
func (m *memory) Dump() []redis.Record {
	now := m.now()
	keys := m.db.Keys() // sorted
	records := make([]redis.Record, 0, len(keys))
	for _, key := range keys {
		if m.expiry.expired(now, key) {
			continue
		}
		value := m.value(key)
		records = append(records, redis.Record{Key: key, Value: value, ExpiresAt: m.expiry.deadlines[key]})
	}
	return records
}

// Load implements redis.Memory.
func (m *memory) Load(records []redis.Record) {
	m.redis.FlushAll()
	m.lua.forget()
	clear(m.expiry.deadlines)
	for _, r := range records {
		m.put(r.Key, r.Value)
		if r.ExpiresAt != 0 {
			m.expiry.deadlines[r.Key] = r.ExpiresAt
		}
	}
}
