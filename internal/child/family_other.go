//go:build unix && !linux

package child

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

func descendants(int) []int { return nil }

func isStopped(int) bool { return true }
