package redisserver

import "syscall"

// dieWithParent has the kernel kill the server if the test process dies without its clean-up (a panic, a timeout).
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
