package child

import "syscall"

// dieWithParent has the kernel kill the process if this one ends without having done so.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
