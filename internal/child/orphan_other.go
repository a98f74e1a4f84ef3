//go:build unix && !linux

package child

import (
	"errors"
	"syscall"
)

func dieWithParent(*syscall.SysProcAttr) {}

func signalChildren(int, syscall.Signal) {}

func childrenOf(int) ([]int, error) {
	return nil, errors.New("child: only Linux says what a process has started")
}
