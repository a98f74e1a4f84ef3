//go:build linux

package testbed

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

const workDirIn = "REDLOCKSIM_TEST_WORK_DIR_IN"

// The directory of a run that is under way stays; that of one that was killed is removed by the next run.
func TestWorkDirOfAKilledRun(t *testing.T) {
	if parent := os.Getenv(workDirIn); parent != "" { // the run that is killed
		w, err := newWorkDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.path+"/dump.rdb", []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(w.path + "\n")
		select {}
	}
	parent := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self, "-test.run=^TestWorkDirOfAKilledRun$")
	other.Env = append(os.Environ(), workDirIn+"="+parent, "TMPDIR="+t.TempDir())
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the other run has no directory")
	}
	path := line.Text()

	own, err := newWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "/dump.rdb"); err != nil {
		t.Errorf("the directory of a run that is under way: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it was killed
	if err := removeAbandoned(parent); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the directory of a killed run is still there: %v", err)
	}
	if _, err := os.Stat(own.path); err != nil {
		t.Errorf("the own directory: %v", err)
	}
	if err := own.remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
