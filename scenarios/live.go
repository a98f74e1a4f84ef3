package scenarios

import "fmt"

// Live is the tier of redis-server processes. It is not one of Tiers: its runs are made by package live, take real time,
// and do not repeat themselves.
const Live Tier = "live"

// OnLive is what a run against redis-server processes, on tier live, needs to know of a scenario.
type OnLive struct {
	// Not is a line that says why real processes cannot show the scenario: one that is decided within a few milliseconds would
	// show how busy the machine is. Default: empty, they can. Example: a single millisecond decides it
	Not string `yaml:"not"`
	// Speed is how many times as fast as the file a run may be at the most, from 1. Default: 0, as fast as usual. Example: 1
	Speed int `yaml:"speed"`
}

// maxLiveSpeed is beyond what any machine can keep to.
const maxLiveSpeed = 100

// live looks at what is said of tier live.
func (c *check) live() {
	n := child(c.n, "live")
	if l := c.s.Live; l.Speed < 0 || l.Speed > maxLiveSpeed {
		c.d.Errorf(child(n, "speed"), fmt.Sprint(l.Speed), nil, "must be from 1 to %d", maxLiveSpeed)
	}
	c.oneLine("live", c.s.Live.Not)
}
