//go:build linux

package live

// What the tests of this package see of it.
var (
	ClientOver     = clientOver
	TakeableWithin = takeableWithin
)

// DefaultSpeed is defaultSpeed.
const DefaultSpeed = defaultSpeed
