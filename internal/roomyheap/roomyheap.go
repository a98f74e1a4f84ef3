// Package roomyheap is for tests of searches, which import it for its effect: the garbage collector runs when the heap is five
// times as large as what is alive, not twice. Thousands of short runs keep next to nothing, and with Go's default the collector
// takes a third of their time. GOGC says otherwise if it is set.
package roomyheap

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
