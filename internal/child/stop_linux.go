package child

import (
	"syscall"
	"time"
)

// Stop stops the process, and returns when all of its threads stand still, or after that time: the signal is taken by one of
// them, some time after it was sent. SIGCONT lets the process go on.
func (p *Process) Stop(within time.Duration) {
	_ = p.Signal(syscall.SIGSTOP)
	awaitStop(p.PID(), within)
}
