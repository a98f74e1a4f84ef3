package child

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// adopts has this program be a process that starts a daemon.
const adopts = "REDLOCKSIM_TEST_ADOPTS"

// What a process has started, in sessions of their own and by others too, stands still with it, goes on with it, and ends with
// it. A daemon, whose parent has ended, belongs to the process that has adopted it.
func TestStopAndKillReachAll(t *testing.T) {
	if os.Getenv(adopts) != "" {
		if err := AdoptOrphans(); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("/bin/sh", "-c", "setsid sh -c 'setsid sleep 20 & sleep 20 & wait' >/dev/null 2>&1 </dev/null &").Run(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestStopAndKillReachAll$")
	cmd.Env = append(os.Environ(), adopts+"=1")
	p, err := Start(InOwnGroup(cmd))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	wantTogether(t, p, 3)
}

// wantTogether stops a process that has started as many others, lets it go on, and kills it.
func wantTogether(t *testing.T, p *Process, many int) {
	t.Helper()
	var all []int
	if !within(10*time.Second, func() bool {
		all = Descendants(p.PID())
		return len(all) == many && slices.ContainsFunc(all, func(d int) bool { return groupOf(d) == d })
	}) {
		t.Fatalf("it has started %v, want %d with one in a group of its own", all, many)
	}
	if err := p.Stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	slices.Sort(all)
	if scanned := slices.Sorted(slices.Values(family(p.PID(), childrenByParent()))); !slices.Equal(scanned, all) {
		t.Errorf("among all processes it has started %v, want %v", scanned, all)
	}
	for _, d := range all {
		if !isStopped(d) {
			t.Errorf("%d goes on", d)
		}
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	for _, d := range all {
		if !within(10*time.Second, func() bool { return !isStopped(d) }) {
			t.Errorf("%d stands still", d)
		}
	}
	p.Kill()
	for _, d := range all {
		gone := func() bool {
			stat := statOf(fmt.Sprintf("/proc/%d/stat", d))
			return stat == nil || stat[0] == "Z"
		}
		if !within(10*time.Second, gone) {
			t.Errorf("%d outlives it", d)
		}
	}
}

func groupOf(pid int) int {
	g, _ := syscall.Getpgid(pid) // 0 if it has ended
	return g
}

func within(d time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(d); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Who stops a process learns that something which it has started goes on, though the process itself stands still.
func TestStopWaitsForAll(t *testing.T) {
	p, err := Start(exec.Command("/bin/sh", "-c", "sleep 20 & wait"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var children []int
	if !within(10*time.Second, func() bool {
		children = Descendants(p.PID())
		return len(children) > 0
	}) {
		t.Fatal("it has started nothing")
	}
	err = p.stop(time.Second, func(pid int) bool { return pid != children[0] && isStopped(pid) })
	if want := fmt.Sprintf("process %d still runs", children[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Of what a process writes, the end is kept.
func TestOutputIsBounded(t *testing.T) {
	p, err := Start(exec.Command("/bin/sh", "-c", "head -c 10000000 /dev/zero; echo the end"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if said := p.Output(); len(said) > mostOutput || !strings.HasSuffix(said, "the end\n") {
		t.Errorf("%d bytes are kept, with %q", len(said), said[max(0, len(said)-20):])
	}
}
