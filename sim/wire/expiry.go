package wire

import (
	"bufio"
	"bytes"
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// expiry makes the keys of a miniredis expire as those of redis-server do. By itself miniredis differs in this:
//
//   - It keeps the time that is left of a TTL, so that a clock that steps back does not lengthen it. redis-server keeps
//     the deadline.
//   - It removes a key when the TTL is used up; redis-server one millisecond later, when its clock reads more than the
//     deadline. In between PTTL is 0.
//   - Its clock is finer than the milliseconds in which redis-server reckons.
//   - It removes every key that has expired as soon as any command comes. redis-server looks at the keys a command
//     touches, and a key that was not looked at comes back when the clock is stepped back. (redis-server removes some
//     of the others ten times a second; neither tier does that.)
//
// So its clock stands still (no ClockTTL). Before each command it is told how much is left of the TTLs of that command's keys,
// and afterwards it is asked what became of them. A script is such a command, and so is each that it calls, on keys of which
// the script's own words may say nothing.
type expiry struct {
	redis     *miniredis.Miniredis
	db        *miniredis.RedisDB
	deadlines map[string]int64 // as in redis.Record, of the keys that have one
	now       int64            // of the command under way
	words     []string         // of that, and of the commands that a script calls: any may be a key
	removes   bool             // what is dispatched is ours, and comes from no client
}

// given marks a TTL that miniredis was told, which is not in whole milliseconds, apart from one that a command set, which is.
// Commands see it rounded down.
const given = time.Nanosecond

// expired says whether a key is gone. Redis compares in this way in keyIsExpired, db.c.
func (e *expiry) expired(now int64, key string) bool {
	d, ok := e.deadlines[key]
	return ok && now > d
}

// before sets the clock and the TTLs of the keys in a command.
func (e *expiry) before(now int64, args []string) {
	e.now = now
	e.redis.SetTime(time.UnixMilli(now))
	e.words = e.words[:0]
	e.tell(args[1:])
}

// tell sets the TTLs of keys that the command under way has not had before. Any argument may be a key; for one that is not and
// has the name of a key it does no harm.
func (e *expiry) tell(args []string) {
	for _, key := range args {
		if slices.Contains(e.words, key) {
			continue
		}
		e.words = append(e.words, key)
		if d, ok := e.deadlines[key]; ok {
			e.db.SetTTL(key, time.Duration(d-e.now)*time.Millisecond+given)
		}
	}
}

// hook removes the keys that a command looks at and that have expired, just before it runs. It sees the commands that a script
// calls as well; the script itself looks at none.
func (e *expiry) hook(c *server.Peer, command string, all ...string) bool {
	if !e.removes {
		e.tell(all)
	}
	args := all
	switch command {
	case "DEL", "EXISTS", "MGET", "TOUCH", "UNLINK":
	default:
		args = args[:min(1, len(args))]
		if len(args) == 1 && e.expired(e.now, args[0]) && e.refusal(c, command, all) != "" {
			return false
		}
	}
	for _, key := range args {
		if e.expired(e.now, key) {
			delete(e.deadlines, key)
			e.dispatch(c, "DEL", key)
		}
	}
	return false
}

// scratch is no key of anybody's.
const scratch = "\x00scratch"

// refusal is what is wrong with a command by its arguments, which redis-server finds out before it looks at the key: it is
// wrong for a key that is not there, too. It is empty if nothing is.
func (e *expiry) refusal(c *server.Peer, command string, args []string) string {
	reply := e.dispatch(c, append([]string{command, scratch}, args[1:]...)...)
	e.dispatch(c, "DEL", scratch)
	if text, is := bytes.CutPrefix(reply, []byte("-")); is {
		return string(bytes.TrimSpace(text))
	}
	return ""
}

// dispatch carries out a command that comes from no client, beside one that does, and returns the reply. With the context of
// that miniredis knows whether its lock is held, as it is inside a script.
func (e *expiry) dispatch(beside *server.Peer, command ...string) []byte {
	var reply bytes.Buffer
	p := server.NewPeer(bufio.NewWriter(&reply))
	p.Ctx = beside.Ctx
	was := e.removes
	e.removes = true
	e.redis.Server().Dispatch(p, command)
	e.removes = was
	p.Flush()
	return reply.Bytes()
}

// after learns the deadlines that the command has set.
func (e *expiry) after() {
	for _, key := range e.words {
		ttl := e.db.TTL(key) // 0 also if there is no such key
		switch {
		case ttl%time.Millisecond != 0: // as before
		case ttl == 0:
			delete(e.deadlines, key)
		default:
			e.deadlines[key] = e.now + ttl.Milliseconds()
		}
	}
}
