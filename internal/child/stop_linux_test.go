package child

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// What a process has started in groups of their own stands still with it, goes on with it, and ends with it.
func TestStopAndKillReachGroupsOfTheirOwn(t *testing.T) {
	// A shell with job control gives what it starts in the background a group of its own.
	p, err := StartScattering(exec.Command("/bin/sh", "-m", "-c", "sleep 20 & sleep 20 & wait"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var children []int
	for deadline := time.Now().Add(10 * time.Second); len(children) < 2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if children, err = childrenOf(p.PID()); err != nil {
			t.Fatal(err)
		}
	}
	for _, child := range children {
		if group, err := syscall.Getpgid(child); err != nil || group == p.PID() {
			t.Fatalf("%d is in group %d, %v: nothing is tested", child, group, err)
		}
	}
	if len(children) < 2 {
		t.Fatal(children)
	}
	if err := p.Stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	for _, child := range children {
		if !isStopped(child) {
			t.Errorf("%d goes on", child)
		}
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	for _, child := range children {
		if !within(10*time.Second, func() bool { return !isStopped(child) }) {
			t.Errorf("%d stands still", child)
		}
	}
	p.Kill()
	for _, child := range children {
		gone := func() bool {
			state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
			return err != nil || strings.Contains(string(state), ") Z")
		}
		if !within(10*time.Second, gone) {
			t.Errorf("%d outlives it", child)
		}
	}
}

func within(d time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(d); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Who stops a process learns that something in its group goes on, though the process itself stands still.
func TestStopWaitsForTheGroup(t *testing.T) {
	p, err := Start(InOwnGroup(exec.Command("/bin/sh", "-c", "sleep 20 & wait")))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var children []int
	if !within(10*time.Second, func() bool {
		children, err = childrenOf(p.PID())
		return err != nil || len(children) > 0
	}) || err != nil {
		t.Fatal(children, err)
	}
	if err := p.Stop(10 * time.Second); err != nil || !isStopped(p.PID()) || !isStopped(children[0]) {
		t.Errorf("%v: the process stands still: %v, its child: %v", err, isStopped(p.PID()), isStopped(children[0]))
	}
	var isOver atomic.Bool
	var awake sync.WaitGroup
	awake.Go(func() {
		for !isOver.Load() {
			_ = syscall.Kill(children[0], syscall.SIGCONT)
		}
	})
	err = p.Stop(50 * time.Millisecond)
	isOver.Store(true)
	awake.Wait()
	if want := fmt.Sprintf("process %d still runs", children[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
