package child

import (
	"fmt"
	"syscall"
	"time"
)

// Stop stops the process with its group and with all that it has started, and returns when none of their threads can run: a
// signal is taken by one thread of a process, some time after it was sent. The error says what still ran after that time.
// SIGCONT lets them go on.
func (p *Process) Stop(within time.Duration) error {
	_ = p.Signal(syscall.SIGSTOP) // what has exited stands still
	deadline := time.Now().Add(within)
	for _, pid := range p.family() {
		if !awaitStop(pid, time.Until(deadline)) {
			return fmt.Errorf("child: process %d still runs %v after it was told to stop", pid, within)
		}
	}
	return nil
}

// family is the process and those that signals reach with it.
func (p *Process) family() []int {
	all := append([]int{p.PID()}, descendants(p.PID())...)
	if p.cmd.SysProcAttr.Setpgid {
		all = append(all, inGroup(p.PID())...)
	}
	return all
}
