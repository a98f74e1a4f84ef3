package redlock

import (
	"time"

	"redlocksim/redlock/driver"
)

// isConditional reports whether acquires of this client ask for more than free keys.
func (c *Client) isConditional() bool { return c.counterTTL != 0 || c.guard.MaxTTL != 0 }

// conditions are what an acquire asks of each node beyond free keys.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.guard.MaxTTL}
	}
	c.watching.confirm(all, c.guard, now)
	return all
}
