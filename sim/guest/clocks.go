package guest

import "redlocksim/sim/kernel"

// clocks are those of WASI that there are.
var clocks = map[uint64]kernel.ClockKind{0: kernel.WallClock, 1: kernel.Monotonic}

func clockResolution(_ *Guest, m memory, args []uint64) errno {
	if _, is := clocks[args[0]]; !is {
		return invalid
	}
	return m.put64(args[1], 1)
}

func clockTime(g *Guest, m memory, args []uint64) errno {
	kind, is := clocks[args[0]]
	if !is {
		return invalid
	}
	return m.put64(args[2], uint64(g.Process.Reads(kind)))
}
