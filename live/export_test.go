//go:build linux

package live

import "time"

// ClientOver is Client with something put between the library and each node of a soak.
var ClientOver = clientOver

// Pulse watches for stalls, until the process ends.
func Pulse() (longest func() time.Duration) { return watchStalls(nil).longest }
