package scenarios

// Live is the tier of redis-server processes. It is not one of Tiers: its runs are made by package live, take real time,
// and do not repeat themselves.
const Live Tier = "live"

// OnLive is what a run against redis-server processes, on tier live, needs to know of a scenario.
type OnLive struct {
	// Not is a line that says why real processes cannot show the scenario: one that is decided within a few milliseconds would
	// show how busy the machine is. Default: empty, they can. Example: a single millisecond decides it
	Not string `yaml:"not"`
	// Speed is how many times as fast as the file a run may be at the most, up to 100. Default: 0, as fast as usual. Example: 1
	Speed int `yaml:"speed" range:"0..100"`
}
