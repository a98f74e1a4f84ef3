// Package manyruns is imported for its effect, by commands and tests that make many runs: the garbage collector collects a
// quarter as often as by default. A run allocates much and keeps little, so collecting after each doubling of a small heap
// takes a third of the time. The environment's GOGC comes first.
package manyruns

import (
	"os"
	"runtime/debug"
)

// percent is by how much the heap may grow until it is collected.
const percent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
