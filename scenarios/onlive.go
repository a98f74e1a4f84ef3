package scenarios

import "fmt"

// OnLive is what a run against redis-server processes, on tier live, has to know of a scenario.
type OnLive struct {
	// Not is why no such run can show it, in one line; absent if one can. A scenario that is decided within a few milliseconds
	// shows how busy the machine is.
	Not string `yaml:"not"`
	// Speed is how many times as fast as the file a run may be at the most; absent, or 0, for as fast as usual.
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
