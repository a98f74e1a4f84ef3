package votes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

func prepare(keys Keys, q *driver.Conditions) driver.Reply {
	run := keys.RunID()
	if q.Watched != run {
		return driver.Reply{Outcome: driver.Declined, Record: run}
	}
	keys.Set(driver.GuardKey, record(run, 0, q.MaxTTL), 0)
	return driver.Reply{Outcome: driver.Accepted, Record: run}
}

// Fit says whether a node is fit to vote, or what it answers instead.
func Fit(keys Keys, q *driver.Conditions, now int64) (reply driver.Reply, fit bool) {
	run := keys.RunID()
	kept, there := keys.Get(driver.GuardKey, now)
	var found string
	var since int64
	if there {
		var limit time.Duration
		var ok bool
		if kept.IsOther {
			return wrongType, false
		}
		if found, since, limit, ok = ParseRecord(kept.Value); !ok {
			return driver.Reply{Outcome: driver.Failed, Err: errNoRecord}, false
		}
		if limit != q.MaxTTL {
			return driver.Reply{Outcome: driver.Failed, Err: &driver.MaxTTLError{Node: limit, Client: q.MaxTTL}}, false
		}
	}
	switch {
	case found != run:
		kept.Value = record(run, now, q.MaxTTL)
		keys.Set(driver.GuardKey, kept.Value, 0)
	case since == 0:
		return reply, true
	case q.Watched == kept.Value && now-since > q.MaxTTL.Milliseconds():
		keys.Set(driver.GuardKey, record(run, 0, q.MaxTTL), 0)
		return reply, true
	}
	return driver.Reply{Outcome: driver.Quarantined, Record: kept.Value}, false
}

const errNoRecord = rediscmd.ServerError("ERR redlock: " + driver.GuardKey + " is not a record of the restart guard")

func record(run string, since int64, limit time.Duration) string {
	return fmt.Sprint(run, " ", since, " ", limit.Milliseconds())
}

// ParseRecord parses a record of the restart guard in the form in which the script writes it, and matches it: the run of the
// server, since when it is in quarantine, by the clock of the node in milliseconds, or 0, and the largest TTL.
func ParseRecord(text string) (run string, since int64, limit time.Duration, ok bool) {
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
