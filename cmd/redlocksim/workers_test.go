package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlocksim/internal/child"
	"redlocksim/internal/longest"
	"redlocksim/internal/redisserver"
)

// inProcess starts redlocksim in a process of its own.
func inProcess(t *testing.T, args ...string) *child.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	p, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// Six workers are killed and stopped, the command that searches is killed and goes on, the Redis restarts, and another command
// makes the same search by mistake: the directories are those of a search on one machine. What happens when is another thing
// each time, as with -count=10.
func TestASearchByWorkersSurvives(t *testing.T) {
	longest.Only(t, "makes the same search three times")
	dir := t.TempDir()
	settings := filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(settings, []byte("lock: {ttl: 2s}\nnodes: {persistence: none}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	search := func(name string, more ...string) *child.Process {
		return inProcess(t, append([]string{"explore", settings, "--beyond", "--seeds", "60", "--generation", "20", "--dir", filepath.Join(dir, name)}, more...)...)
	}
	alone := search("alone")
	<-alone.Exited()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	survive(t, seed, dir, search)
}

func survive(t *testing.T, seed uint64, dir string, search func(string, ...string) *child.Process) {
	server := redisserver.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	at := "redis://" + server.Addr
	choices := rand.New(rand.NewPCG(1, seed))
	workers := make([]*child.Process, 6)
	for i := range workers {
		workers[i] = inProcess(t, "work", at, "--jobs", "1")
	}
	mistake := search("mistake", "--workers", at)
	own := search("own", "--workers", at)
	var stopped sync.WaitGroup
	for step := 0; ; step++ {
		select {
		case <-own.Exited():
		case <-time.After(time.Duration(200+choices.IntN(400)) * time.Millisecond):
			i := choices.IntN(len(workers))
			switch what := choices.IntN(6); {
			case step == 4:
				server.Kill()
				server.Restart()
			case what < 2:
				workers[i].Kill()
				workers[i] = inProcess(t, "work", at, "--jobs", "1")
			case what < 4:
				w := workers[i]
				_ = w.Signal(syscall.SIGSTOP) // it may have ended
				stopped.Go(func() {
					time.Sleep(2 * time.Second)
					_ = w.Signal(syscall.SIGCONT)
				})
			case step < 20: // later it is left alone, to come to an end
				own.Kill()
				own = search("own", "--resume", "--workers", at)
			}
			continue
		}
		break
	}
	<-mistake.Exited()
	stopped.Wait()
	for _, name := range []string{"own", "mistake"} {
		if said, err := exec.Command("diff", "-r", "-x", ".lock", filepath.Join(dir, "alone"), filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Errorf("%s is another search: %v\n%s\n%s", name, err, said, own.Output())
		}
	}
}
