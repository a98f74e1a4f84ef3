package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// prepare is the adapter's prepare.lua.
func (s *store) prepare(c *driver.Command) driver.Reply {
	run := s.server.RunID()
	if c.Conditions.Watched != run {
		return driver.Reply{Outcome: driver.Declined, Record: run}
	}
	s.put(driver.GuardKey, record{value: guardRecord(run, 0, c.Conditions.MaxTTL)})
	return driver.Reply{Outcome: driver.Accepted, Record: run}
}

// vote is the adapter's vote.lua: an acquire under conditions. It looks at the same keys as that, because looking at a key
// removes it if it has expired.
func (s *store) vote(c *driver.Command, now int64, looks bool) driver.Reply {
	if c.Conditions.MaxTTL != 0 {
		if reply, fit := s.guard(c.Conditions, now); !fit {
			return reply
		}
	}
	token := c.Conditions.Token
	var counter int64
	if token != 0 {
		for _, key := range c.Keys {
			if r, there := s.get(driver.TokenKey(key), now); there {
				n, err := readCounter(r.value)
				if err != nil {
					return driver.Reply{Outcome: driver.Failed, Err: err}
				}
				counter = max(counter, n)
			}
		}
	}
	taken := false
	ttls := make([]int64, len(c.Keys))
	for i, key := range c.Keys {
		ttls[i] = c.TTL.Milliseconds()
		switch r, there := s.get(key, now); {
		case !there:
		case token != 0 && r.value == c.Value: // the vote for this acquisition's first token
			ttls[i] = max(ttls[i], r.expiresAt-now)
		default:
			taken = true
		}
	}
	if taken {
		return driver.Reply{Outcome: driver.Declined, Token: counter}
	}
	if token != 0 && token <= counter {
		return driver.Reply{Outcome: driver.Behind, Token: counter}
	}
	if looks {
		return s.forbidden()
	}
	for i, key := range c.Keys {
		s.put(key, record{c.Value, now + ttls[i], s.server.Now()})
		if token != 0 {
			s.put(driver.TokenKey(key), record{value: strconv.FormatInt(token, 10),
				expiresAt: now + c.Conditions.CounterTTL.Milliseconds()})
		}
	}
	return driver.Reply{Outcome: driver.Accepted}
}

// readCounter parses a key's counter: only in the form in which the script itself writes it.
func readCounter(text string) (int64, error) {
	if !redis.IsString(text) {
		return 0, errWrongType
	}
	return integer(text)
}

// guard says whether the node is fit to vote, or what it answers instead.
func (s *store) guard(q *driver.Conditions, now int64) (reply driver.Reply, fit bool) {
	run := s.server.RunID()
	kept, there := s.get(driver.GuardKey, now)
	var found string
	var since int64
	if there {
		var limit time.Duration
		var ok bool
		if !redis.IsString(kept.value) {
			return driver.Reply{Outcome: driver.Failed, Err: errWrongType}, false
		}
		if found, since, limit, ok = parseGuardRecord(kept.value); !ok {
			return driver.Reply{Outcome: driver.Failed, Err: errNoRecord}, false
		}
		if limit != q.MaxTTL {
			return driver.Reply{Outcome: driver.Failed, Err: &driver.MaxTTLError{Node: limit, Client: q.MaxTTL}}, false
		}
	}
	switch {
	case found != run:
		kept.value = guardRecord(run, now, q.MaxTTL)
		s.put(driver.GuardKey, record{value: kept.value})
	case since == 0:
		return reply, true
	case q.Watched == kept.value && now-since > q.MaxTTL.Milliseconds():
		s.put(driver.GuardKey, record{value: guardRecord(run, 0, q.MaxTTL)})
		return reply, true
	}
	return driver.Reply{Outcome: driver.Quarantined, Record: kept.value}, false
}

const errNoRecord = rediscmd.ServerError("ERR redlock: " + driver.GuardKey + " is not a record of the restart guard")

func guardRecord(run string, since int64, limit time.Duration) string {
	return fmt.Sprint(run, " ", since, " ", limit.Milliseconds())
}

// parseGuardRecord parses a record in the form in which the script writes it, and matches it.
func parseGuardRecord(text string) (run string, since int64, limit time.Duration, ok bool) {
	run, times, _ := strings.Cut(text, " ")
	from, most, _ := strings.Cut(times, " ")
	if !consistsOf(run, "0123456789abcdef") || !consistsOf(from, decimals) || !consistsOf(most, decimals) {
		return "", 0, 0, false
	}
	since, _ = strconv.ParseInt(from, 10, 64)
	ms, _ := strconv.ParseInt(most, 10, 64)
	return run, since, time.Duration(ms) * time.Millisecond, true
}

const decimals = "0123456789"

// consistsOf says whether a text has one of the characters or more, and no others.
func consistsOf(text, characters string) bool {
	return text != "" && strings.Trim(text, characters) == ""
}
