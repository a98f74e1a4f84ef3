// Package manyruns is imported for its effect, by commands and tests that make many runs: the garbage collector runs a quarter
// as often as by default. A run allocates much and keeps little, so collecting after each doubling of a small heap would take a
// third of the time. GOGC in the environment overrides it.
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
