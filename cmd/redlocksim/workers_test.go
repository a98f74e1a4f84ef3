package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/child"
	"redlocksim/internal/longest"
	"redlocksim/internal/redisserver"
	"redlocksim/internal/workers"
	"redlocksim/scenarios"
)

// ownProcess starts redlocksim in a process of its own.
func ownProcess(t *testing.T, args ...string) *child.Process {
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

// A program that workers would refuse is refused before anybody is asked.
func TestAProgramTooLargeForWorkers(t *testing.T) {
	f := &workersFlag{address: "redis://localhost"}
	lock := &scenarios.Foreign{Module: &scenarios.Module{Wasm: make([]byte, workers.MaxFile+1)}}
	_, err := f.open(newExplore(), lock)
	failed, is := errors.AsType[*failure](err)
	if want := "the lock program has 67108865 bytes, and --workers takes no more than 67108864"; !is || failed.code != exitUsage || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
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
		return ownProcess(t, append([]string{"explore", settings, "--beyond", "--seeds", "60", "--generation", "20", "--dir", filepath.Join(dir, name)}, more...)...)
	}
	alone := search("alone")
	<-alone.Exited()
	if found, err := filepath.Glob(filepath.Join(dir, "alone", "[0-9]*-*.yaml")); err != nil || len(found) == 0 {
		t.Fatalf("a search on one machine finds nothing to compare: %v\n%s", err, alone.Output())
	}

	server := redisserver.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	at := "redis://" + server.Addr
	mistake := search("mistake", "--workers", at)
	own := attacked(t, server, at, mistake, search)
	<-own.Exited()
	<-mistake.Exited()
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
	queues, err := client.Keys(t.Context(), "redlocksim:queue:*").Result()
	if err != nil || len(queues) != 1 {
		t.Fatalf("there are the queues %v, want one: %v", queues, err)
	}
	if stream, err := client.XInfoStream(t.Context(), queues[0]).Result(); err != nil || stream.EntriesAdded < 10 {
		t.Errorf("%d chunks went through it: %v", stream.EntriesAdded, err)
	}
}

// attacked starts a search and its workers, and returns the command once it has survived all attacks: the last of several,
// since it is killed, too. Neither that search nor the one by mistake may be over before.
func attacked(t *testing.T, server *redisserver.Server, at string, mistake *child.Process, search func(string, ...string) *child.Process) *child.Process {
	workers := make([]*child.Process, 6)
	for i := range workers {
		workers[i] = ownProcess(t, "work", at, "--jobs", "1")
	}
	own := search("own", "--workers", at)
	killsWorker := func() {
		i := rand.IntN(len(workers))
		workers[i].Kill()
		workers[i] = ownProcess(t, "work", at, "--jobs", "1")
	}
	stopsWorker := func() {
		w := workers[rand.IntN(len(workers))]
		_ = w.Signal(syscall.SIGSTOP) // it may have been killed
		time.AfterFunc(2*time.Second, func() { _ = w.Signal(syscall.SIGCONT) })
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
	return own
}
