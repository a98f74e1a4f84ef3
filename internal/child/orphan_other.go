//go:build unix && !linux

package child

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

func signalChildren(int, syscall.Signal) {}
