//go:build !js

package scenarios

import (
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// Tiers lists the tiers that scenarios run on as they are.
func Tiers() []Tier { return []Tier{Model, Wire} }

func newWire() (redis.Tier, error) { return wire.New(), nil }
