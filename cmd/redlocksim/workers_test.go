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

	"github.com/redis/go-redis/v9"

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
// makes the same search by mistake: the directories are those of a search on one machine. The order is another one each time,
// as with -count=10.
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
	if found, err := filepath.Glob(filepath.Join(dir, "alone", "[0-9]*-*.yaml")); err != nil || len(found) == 0 {
		t.Fatalf("a search on one machine finds nothing to compare: %v\n%s", err, alone.Output())
	}

	server := redisserver.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	at := "redis://" + server.Addr
	workers := make([]*child.Process, 6)
	for i := range workers {
		workers[i] = inProcess(t, "work", at, "--jobs", "1")
	}
	mistake, own := search("mistake", "--workers", at), search("own", "--workers", at)
	some := func() int { return rand.IntN(len(workers)) }
	killsWorker := func() {
		i := some()
		workers[i].Kill()
		workers[i] = inProcess(t, "work", at, "--jobs", "1")
	}
	var stopped sync.WaitGroup
	stopsWorker := func() {
		w := workers[some()]
		_ = w.Signal(syscall.SIGSTOP) // it may be stopped already
		stopped.Go(func() {
			time.Sleep(2 * time.Second)
			_ = w.Signal(syscall.SIGCONT)
		})
	}
	killsCommand := func() {
		own.Kill()
		own = search("own", "--resume", "--workers", at)
	}
	restarts := func() {
		server.Kill()
		server.Restart()
	}
	attacks := []func(){killsWorker, killsWorker, killsWorker, stopsWorker, stopsWorker, stopsWorker, killsCommand, killsCommand, restarts}
	rand.Shuffle(len(attacks), func(i, j int) { attacks[i], attacks[j] = attacks[j], attacks[i] })
	for i, attack := range attacks {
		select {
		case <-own.Exited():
			t.Fatalf("the search was over after %d of %d attacks:\n%s", i, len(attacks), own.Output())
		case <-mistake.Exited():
			t.Fatalf("the search by mistake was over after %d of %d attacks:\n%s", i, len(attacks), mistake.Output())
		case <-time.After(time.Duration(100+rand.IntN(300)) * time.Millisecond):
			attack()
		}
	}
	<-own.Exited()
	<-mistake.Exited()
	stopped.Wait()
	for name, p := range map[string]*child.Process{"own": own, "mistake": mistake} {
		if p.Status() != alone.Status() {
			t.Errorf("%s: %s, and on one machine %s\n%s", name, p.Status(), alone.Status(), p.Output())
		}
		if said, err := exec.Command("diff", "-r", "-x", ".lock", filepath.Join(dir, "alone"), filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Errorf("%s is another search: %v\n%s\n%s", name, err, said, p.Output())
		}
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	if done, err := client.Keys(t.Context(), "asynq:{redlocksim-*}:processed").Result(); err != nil || len(done) != 1 {
		t.Errorf("workers have done jobs of %d builds, want 1: %v, %v", len(done), done, err)
	}
}
