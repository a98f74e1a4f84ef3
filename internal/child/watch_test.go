//go:build unix

package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// asParent and asWatching have this program be a process that starts another one as anybody does, and the other one, which ends
// with it and has a child of its own.
const asParent, asWatching = "REDLOCKSIM_TEST_AS_PARENT", "REDLOCKSIM_TEST_AS_WATCHING"

// A process that is killed takes with it what it has started, and what that has started, although nobody had time to end them.
func TestEndWithParent(t *testing.T) {
	again := func(as string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestEndWithParent$")
		cmd.Env = append(os.Environ(), asParent+"=", asWatching+"=", as+"=1")
		cmd.Stderr = os.Stderr
		return cmd
	}
	switch {
	case os.Getenv(asWatching) != "":
		EndWithParent()
		p, err := Start(exec.Command("sleep", "60"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(os.Getpid())
		fmt.Println(p.PID())
		time.Sleep(time.Minute)
	case os.Getenv(asParent) != "":
		cmd := again(asWatching)
		cmd.Stdout = os.Stdout
		_ = cmd.Run()
	}
	cmd := again(asParent)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var left []int
	for len(left) < 2 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, pid)
	}
	if err := cmd.Process.Kill(); err != nil || len(left) != 2 {
		t.Fatalf("%v; it has started %v", err, left)
	}
	_ = cmd.Wait() // it was killed
	for _, pid := range left {
		deadline := time.Now().Add(10 * time.Second)
		for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("%d outlives it", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// isZombie says whether a process has ended and nobody has looked.
func isZombie(pid int) bool {
	state, _ := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return len(state) > 0 && state[0] == 'Z'
}
