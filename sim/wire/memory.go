package wire

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/script"
)

// memory is a node: a miniredis that is called directly, by one request after the other.
type memory struct {
	server  *redis.Server
	redis   *miniredis.Miniredis
	db      *miniredis.RedisDB
	expiry  expiry
	own     *session // of all clients that need none of their own
	lua     *script.Scripts
	inner   *session     // of the commands of a script
	replies bufio.Reader // to these

	changed func(redis.Change) // nil unless somebody wants to know
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
	m.own, m.inner = newSession(), newSession()
	m.expiry = expiry{redis: m.redis, db: m.db, deadlines: map[string]int64{}}
	m.lua = script.New(m.inScript)
	m.redis.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		if why := s.Refuses(command, args, c == m.inner.peer); why != "" && !m.expiry.removes {
			c.WriteError(why)
			return true
		}
		if command == "PUBLISH" && len(args) == 2 {
			c.WriteInt(s.Publish(args[0], args[1]))
			return true
		}
		if command == "EVAL" || command == "EVALSHA" {
			null := proto.Nil
			if c.Resp3 {
				null = proto.NilResp3
			}
			c.WriteRaw(encoded(m.eval(command, args), null))
			return true
		}
		if command == "INFO" && len(args) == 1 && strings.EqualFold(args[0], "server") { // a section that miniredis lacks
			c.WriteBulk("# Server\r\nrun_id:" + s.RunID() + "\r\n")
			return true
		}
		return m.expiry.hook(c, command, args...) || m.compares(c, command, args)
	})
	return m
}

func (m *memory) close() { m.redis.Close() }

// now is what the node's wall clock reads, in the unit in which Redis expires keys.
func (m *memory) now() int64 { return m.server.Clock().Wall().Milliseconds() }

// doIn runs a command of a client that has a session, and returns the reply.
func (m *memory) doIn(s *session, args []string) []byte {
	if m.isUnknownScript(args) {
		m.server.CountUnknownScript()
	} else {
		m.server.BeforeWrite()
	}
	m.expiry.before(m.now(), args)
	var before []redis.Record
	if m.changed != nil {
		before = m.Dump()
	}
	reply := s.dispatch(m.redis.Server(), args)
	m.expiry.after()
	if m.changed != nil {
		m.compare(before, m.Dump())
	}
	return reply
}

// compare tells of what a command has changed, key by key. Both are sorted.
func (m *memory) compare(before, after []redis.Record) {
	for len(before) > 0 || len(after) > 0 {
		var c redis.Change
		if len(after) == 0 || len(before) > 0 && before[0].Key <= after[0].Key {
			c.Before, before = before[0], before[1:]
			c.Key = c.Before.Key
		}
		if len(after) > 0 && (c.Key == "" || c.Key == after[0].Key) {
			c.After, after = after[0], after[1:]
			c.Key = c.After.Key
		}
		if c.Before != c.After {
			m.changed(c)
		}
	}
}

// TellChanges implements redis.Memory.
func (m *memory) TellChanges(f func(redis.Change)) { m.changed = f }

// Peek implements redis.Memory.
func (m *memory) Peek(key string) (redis.Record, kernel.True, bool) {
	if !m.db.Exists(key) {
		return redis.Record{}, 0, false
	}
	expiresAt := m.expiry.deadlines[key]
	return redis.Record{Key: key, Value: m.value(key), ExpiresAt: expiresAt}, m.server.RunsOut(expiresAt), true
}

// isUnknownScript: the command is going to be answered with NOSCRIPT, and changes nothing.
func (m *memory) isUnknownScript(args []string) bool {
	return strings.EqualFold(args[0], "evalsha") && !m.lua.Knows(args[1])
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

// Remove implements redis.Memory.
func (m *memory) Remove(keys []string) {
	for _, key := range keys {
		m.db.Del(key)
		delete(m.expiry.deadlines, key)
	}
}

// Put implements redis.Memory.
func (m *memory) Put(r redis.Record) {
	m.db.Del(r.Key) // it may be of another type
	m.put(r.Key, r.Value)
	delete(m.expiry.deadlines, r.Key)
	if r.ExpiresAt != 0 {
		m.expiry.deadlines[r.Key] = r.ExpiresAt
	}
}

// Load implements redis.Memory.
func (m *memory) Load(records []redis.Record) {
	m.redis.FlushAll()
	m.lua.Forget()
	clear(m.expiry.deadlines)
	for _, r := range records {
		m.Put(r)
	}
}
