package redlocktest

import (
	"fmt"
	"time"

	"redlocksim/redlock/driver"
)

// record is that of the restart guard; see driver.Conditions. The zero record is none.
type record struct {
	run   string
	since int64 // when the quarantine began; 0: the node is fit to vote
	max   time.Duration
}

func (r record) String() string { return fmt.Sprint(r.run, " ", r.since, " ", r.max.Milliseconds()) }

// vote says whether the node is fit to vote, or what it answers instead.
func (m *memory) vote(q *driver.Conditions, now int64) (reply driver.Reply, fit bool) {
	switch {
	case m.record.run != "" && m.record.max != q.MaxTTL:
		err := &driver.MaxTTLError{Node: m.record.max, Client: q.MaxTTL}
		return driver.Reply{Outcome: driver.Failed, Err: err}, false
	case m.record.run != m.run:
		m.record = record{m.run, now, q.MaxTTL}
	case m.record.since != 0 && (q.Watched != m.record.String() || now-m.record.since <= q.MaxTTL.Milliseconds()):
	default:
		m.record.since = 0
		return reply, true
	}
	return driver.Reply{Outcome: driver.Quarantined, Record: m.record.String()}, false
}

// prepare declares this run of the node fit to vote.
func (m *memory) prepare(q *driver.Conditions) driver.Reply {
	if q.Watched != m.run {
		return driver.Reply{Outcome: driver.Declined, Record: m.run}
	}
	m.record = record{run: m.run, max: q.MaxTTL}
	return driver.Reply{Outcome: driver.Accepted, Record: m.run}
}
