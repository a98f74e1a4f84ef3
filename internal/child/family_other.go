//go:build unix && !linux

package child

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

// Descendants are not known here.
func Descendants(int) []int { return nil }

func isStopped(int) bool { return true }
