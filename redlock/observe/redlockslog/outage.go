package redlockslog

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// outages are those of nodes under way. The zero outages know of none.
type outages struct {
	any    atomic.Bool // whether there is one, which answers of healthy nodes can ask without the lock
	mu     sync.Mutex
	byNode map[string]*outage
}

// outage is the time in which a node fails.
type outage struct {
	began, last time.Time // its first and its last failure
	failures    int
	ways        uint16     // the outcomes in which it failed, a bit each
	level       slog.Level // of its first record
}

// isFailure: a healthy node does not answer so.
func isFailure(o driver.Outcome) bool {
	switch o {
	case driver.TimedOut, driver.Refused, driver.Failed, driver.Quarantined:
		return true
	}
	return false
}

// answered takes note of what came of a command on a node, which is news unless the node is known to fail like this, and
// gives the outage that is over with it.
func (all *outages) answered(n observe.NodeOutcome, now time.Time, settled time.Duration, level slog.Level) (isNews bool, over *outage) {
	fails := isFailure(n.Outcome)
	if !fails && !all.any.Load() {
		return true, nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	o := all.byNode[n.Node]
	if !fails {
		if o == nil || now.Sub(o.last) < settled {
			return true, nil
		}
		delete(all.byNode, n.Node)
		all.any.Store(len(all.byNode) > 0)
		return true, o
	}
	if o == nil {
		if all.byNode == nil {
			all.byNode = map[string]*outage{}
		}
		o = &outage{began: now, level: level}
		all.byNode[n.Node] = o
		all.any.Store(true)
	}
	o.last = now
	o.failures++
	way := uint16(1) << n.Outcome
	isNews = o.ways&way == 0
	o.ways |= way
	return isNews, nil
}
