package independent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// event is an event of a history, as it stands in the file.
type event struct {
	Process string   `json:"process"`
	Type    string   `json:"type"`
	Func    string   `json:"f"`
	Lock    string   `json:"lock"`
	Value   *big.Int `json:"value,omitempty"`
	TTL     int64    `json:"ttl_ns,omitempty"`
	Time    int64    `json:"time"`
	Index   int      `json:"index"`
}

// operation is a call and what became of it.
type operation struct {
	process, does, lock string

	outcome string   // ok, fail or info
	token   *big.Int // nil if it is not known
	called  int64
	lease   int64 // 0 if the history does not say
	// call and end are the events, by their place in the history of the lock; end is -1 if there is none.
	call, end int
}

// leftOut says whether an operation counts as one that did not take effect.
func (op *operation) leftOut() bool {
	return op.outcome == "fail" || op.outcome == "info" && op.does == "extend"
}

// lockHistory is what happened to one lock.
type lockHistory struct {
	times      []int64 // of its events
	operations []*operation
}

// read reads a history and takes it apart by locks.
func (d definition) read(text []byte) (map[string]*lockHistory, error) {
	var events []event
	if err := json.Unmarshal(text, &events); err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, errors.New("no operations")
	}
	locks, underWay := map[string]*lockHistory{}, map[string]*operation{}
	for i, e := range events {
		if d.times && i > 0 && e.Time < events[i-1].Time {
			return nil, fmt.Errorf("event %d: the time falls", i)
		}
		h := locks[e.Lock]
		if h == nil {
			h = &lockHistory{}
			locks[e.Lock] = h
		}
		op := underWay[e.Process]
		switch {
		case e.Type == "invoke" && op == nil:
			op = &operation{process: e.Process, does: e.Func, lock: e.Lock, outcome: "info", called: e.Time, lease: e.TTL,
				call: len(h.times), end: -1}
			h.operations = append(h.operations, op)
			underWay[e.Process] = op
		case e.Type == "invoke":
			return nil, fmt.Errorf("event %d: process %s calls before its last call ended", i, e.Process)
		case op == nil || op.does != e.Func || op.lock != e.Lock:
			return nil, fmt.Errorf("event %d: process %s has not called this", i, e.Process)
		default:
			op.outcome, op.end = e.Type, len(h.times)
			delete(underWay, e.Process)
			if d.tokens && e.Func == "acquire" && e.Type == "ok" {
				if e.Value == nil || !e.Value.IsInt64() {
					return nil, fmt.Errorf("event %d: no token of 64 bits", i)
				}
				if e.Value.Cmp(big.NewInt(-1)) != 0 {
					op.token = e.Value
				}
			}
		}
		h.times = append(h.times, e.Time)
	}
	for _, h := range locks {
		h.extendAsAcquired()
	}
	return locks, nil
}

// extendAsAcquired gives extends that do not say how long their lease lasts that of the last acquire.
func (h *lockHistory) extendAsAcquired() {
	last := map[string]int64{}
	for _, op := range h.operations {
		switch {
		case op.outcome == "fail":
		case op.does == "acquire":
			last[op.process] = op.lease
		case op.does == "extend" && op.lease == 0:
			op.lease = last[op.process]
		}
	}
}
