package redlock

import (
	"time"

	"redlocksim/redlock/driver"
)

// isConditional: acquires of this client are not plain ones.
func (c *Client) isConditional() bool { return c.counterTTL != 0 || c.guard.MaxTTL != 0 }

// conditions are those of an acquire, for each node.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.guard.MaxTTL}
	}
	c.watching.confirm(all, c.guard, now)
	return all
}
