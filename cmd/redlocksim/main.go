// Command redlocksim runs scenarios of distributed locks on Redis in a deterministic simulator and says whether mutual
// exclusion held.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	// Runs make much garbage and keep little: a collector that runs less often makes them about a third faster.
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
