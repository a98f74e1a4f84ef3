package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
)

// simulated are the commands that a node carries out as redis-server does, deadlines of keys and all; what miniredis makes of
// others is not looked after here. Keys that are listed (KEYS, SCAN) or renamed are among those.
var simulated = setOf(`
		AUTH CLIENT CLUSTER ECHO HELLO INFO PING QUIT SELECT TIME
		GET SET SETNX SETEX PSETEX GETSET GETDEL GETEX GETRANGE MGET STRLEN APPEND INCR INCRBY DECR DECRBY DELIFEQ DELEX
		DEL UNLINK EXISTS TYPE EXPIRE PEXPIRE EXPIREAT PEXPIREAT EXPIRETIME PEXPIRETIME TTL PTTL PERSIST
		HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HLEN HMGET HMSET HSET HSETNX HVALS
		LINDEX LLEN LPOP LPUSH LRANGE LREM RPOP RPUSH
		ZADD ZCARD ZCOUNT ZINCRBY ZRANGE ZRANGEBYSCORE ZRANK ZREM ZREMRANGEBYSCORE ZSCORE
		EVAL EVALSHA SCRIPT PUBLISH SUBSCRIBE UNSUBSCRIBE WAIT`)

// forbiddenInScripts are those of them that redis-server allows in no script.
var forbiddenInScripts = setOf(`AUTH CLIENT HELLO QUIT EVAL EVALSHA SCRIPT SUBSCRIBE UNSUBSCRIBE WAIT`)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}

// isNotSimulated is why a command is not carried out; empty if it is.
func isNotSimulated(words []string) string {
	switch name := strings.ToUpper(words[0]); {
	case !simulated[name]:
		return fmt.Sprintf("the simulated nodes have no command %s", name)
	case name == "SELECT" && len(words) == 2 && words[1] != "0":
		return fmt.Sprintf("the simulated nodes have one database: SELECT %s", words[1])
	case name == "SCRIPT" && (len(words) < 2 || !slices.Contains([]string{"LOAD", "EXISTS", "FLUSH"}, strings.ToUpper(words[1]))):
		return "of SCRIPT the simulated nodes have LOAD, EXISTS and FLUSH"
	}
	return ""
}

// command is parse for what somebody else has written: a command in RESP or, as for people with telnet, the words of a line.
// The error says what no command begins with.
func command(b []byte) (words []string, size int, err error) {
	if b[0] != '*' {
		line, _, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			return nil, 0, nil
		}
		words, size = strings.Fields(string(line)), len(line)+1
		if len(words) == 0 || strings.ContainsAny(string(line), "\"'") {
			err = fmt.Errorf("neither RESP nor a line of words without quotes: %.60q", b)
		}
		return words, size, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not a command in RESP: %.60q", b)
		}
	}()
	if words, size = parse(b); size > 0 && len(words) == 0 {
		err = fmt.Errorf("an empty command in RESP: %.60q", b)
	}
	return words, size, err
}

// subscribes changes to which channels the client of a stream listens, and confirms each.
func (s *stream) subscribes(more bool, channels []string) []byte {
	name, before := "unsubscribe", len(s.channels)
	if more {
		name = "subscribe"
	} else if len(channels) == 0 {
		channels = slices.Clone(s.channels)
	}
	var confirmed []byte
	for _, channel := range channels {
		i := slices.Index(s.channels, channel)
		switch {
		case more && i < 0:
			s.channels = append(s.channels, channel)
		case !more && i >= 0:
			s.channels = slices.Delete(s.channels, i, i+1)
		}
		confirmed = append(confirmed, s.session.pushed(proto.String(name), proto.String(channel), proto.Int(len(s.channels)))...)
	}
	switch {
	case before == 0 && len(s.channels) > 0:
		s.server.Subscribe(s)
	case len(s.channels) == 0:
		s.server.Unsubscribe(s)
	}
	return confirmed
}
