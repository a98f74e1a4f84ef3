//go:build linux

package rueidis_test

import (
	"testing"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/sim/conformance"
)

// What a redis-server does behind this adapter is what the simulated nodes do.
func TestConformance(t *testing.T) { conformance.AgainstServer(t, own) }
