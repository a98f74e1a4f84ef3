//go:build unix && !linux

package child

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

func descend(int, syscall.Signal) {}
