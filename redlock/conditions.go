package redlock

import (
	"time"

	"redlocksim/redlock/driver"
)

// conditions are what an acquire asks of each node beyond free keys.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.maxTTL}
	}
	c.watching.confirm(all, &c.settings, now)
	return all
}
