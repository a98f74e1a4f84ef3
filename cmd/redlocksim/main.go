// Command redlocksim runs scenarios of distributed locks on Redis in a deterministic simulator and says whether mutual
// exclusion held.
package main

import (
	"os"

	_ "redlocksim/internal/manyruns"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
