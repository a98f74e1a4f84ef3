package shrink

import (
	"fmt"

	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/sim/history"
)

// compared is a scenario that shows a violation of somebody's program, as a file says it: what it expects is what the library
// shows under the same faults, to which the program is compared.
func compared(v *search.Violation) (*scenarios.Scenario, error) {
	theirs, err := scenarios.Judge(v.Scenario, v.Options())
	if err != nil {
		return nil, err
	}
	c := *v.Scenario
	c.Expect, c.Live = scenarios.Expect{}, scenarios.OnLive{}
	ours, err := scenarios.Judge(&c, scenarios.Options{Seed: v.Seed})
	if err != nil {
		return nil, err
	}
	say(&c, ours)
	c.Expect.Grants = nil
	what, how := shown(theirs)
	c.Title = fmt.Sprintf("%s of %s", what, v.Foreign.Name)
	c.Explanation = fmt.Sprintf("Of %s: %s What is expected is what a sound Redlock shows under the same faults.\n", v.Foreign.Name, rounded.Text(how))
	c.Recorded = &scenarios.Recorded{Seed: v.Seed, History: history.Hash(theirs.History)}
	if _, err := c.Encode(); err != nil {
		return nil, err
	}
	return &c, nil
}
