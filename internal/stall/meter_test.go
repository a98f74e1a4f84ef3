//go:build unix

package stall

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asMeter is the environment variable that makes the test binary a process that measures its stalls.
const asMeter = "REDLOCKSIM_TEST_AS_METER"

func TestMain(m *testing.M) {
	if os.Getenv(asMeter) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	p := Start()
	fmt.Println("begun")
	_, _ = fmt.Scanln()
	fmt.Println(int64(p.Longest()))
}

// A process that does not run for a while knows for how long.
func TestAStoppedProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asMeter+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const stopped = 300 * time.Millisecond
	var begun string
	_, _ = fmt.Fscanln(out, &begun)
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(stopped)
	_ = cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(50 * time.Millisecond)
	fmt.Fprintln(in)
	var longest time.Duration
	if _, err := fmt.Fscanln(out, (*int64)(&longest)); err != nil || longest < stopped-20*time.Millisecond {
		t.Errorf("a process that was stopped for %v was held up for %v by its own measure; %v", stopped, longest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Time in which threads wait without a break adds up, and a break begins anew.
func TestLengthen(t *testing.T) {
	const ms = time.Millisecond
	run := time.Duration(0)
	for _, look := range []struct{ took, waited, want time.Duration }{
		{5 * ms, 1 * ms, 0}, {5 * ms, 5 * ms, 5 * ms}, {6 * ms, 5 * ms, 11 * ms}, {5 * ms, 4 * ms, 16 * ms}, {5 * ms, 3 * ms, 0}, {7 * ms, 7 * ms, 7 * ms}, {5 * ms, 0, 0},
	} {
		if run = lengthen(run, look.took, look.waited); run != look.want {
			t.Errorf("after %+v: %v", look, run)
		}
	}
}

// What the kernel says is read anew each time; without a kernel that says so nobody waits.
func TestPressure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu")
	say := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say("")
	p := pressure(path)
	for text, want := range map[string]time.Duration{
		"some avg10=85.39 avg60=61.47 avg300=45.31 total=8715937661\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n": 8715937661 * time.Microsecond,
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n":                                                            12 * time.Microsecond,
		"": 0, "nonsense": 0,
	} {
		say(text)
		if got := p.read(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if pressure(path+"x").read() != 0 {
		t.Error("a file that is not there says something")
	}
}
