package scenarios

import (
	"errors"

	"redlocksim/sim/redis"
)

// Tiers lists the tiers that scenarios run on as they are. In a browser that is one: go-redis and miniredis would double what
// has to be loaded.
func Tiers() []Tier { return []Tier{Model} }

func newWire() (redis.Tier, error) {
	return nil, errors.New("scenarios: there is no tier wire in a browser")
}
