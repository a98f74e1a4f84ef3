//go:build linux

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/adaptertest"
	"redlocksim/internal/faketime"
	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	sim "redlocksim/sim/redis"
)

// patience is for a server that answers at once on a machine that is not busy.
const patience = 30 * time.Second

// server is a redis-server process behind an adapter.
type server struct {
	tb          testing.TB
	clock       *faketime.Clocks // nil where there is no C compiler, or the server's clock cannot be made to stand still
	process     *redisserver.Server
	client      *redis.Client // for plain commands
	adapter     adaptertest.Adapter
	node        driver.Node // for the library's
	end         func() error
	sent        adaptertest.Rounds // by that
	subscribers map[string][]*redis.PubSub
	run         string
	software    sim.Software
}

func newServer(tb testing.TB, a adaptertest.Adapter) *server {
	tb.Helper()
	s := &server{tb: tb, adapter: a, subscribers: map[string][]*redis.PubSub{}}
	var env []string
	dir := tb.TempDir()
	library, err := faketime.Build(dir)
	switch {
	case err == nil:
		if s.clock, err = faketime.New(filepath.Join(dir, "clock")); err != nil {
			tb.Fatal(err)
		}
		s.clock.StandAt(time.Unix(0, int64(kernel.Epoch)))
		env = s.clock.Preload(library)
	case !errors.Is(err, faketime.ErrNoCompiler) || os.Getenv(redisserver.RequireEnv) == "1":
		tb.Fatal(err)
	}
	s.process = redisserver.StartIn(tb, env, "--enable-debug-command", "yes")
	s.client = adaptertest.Admin(tb, s.process.Addr)
	tb.Cleanup(func() {
		s.forgetSubscribers()
		if s.end != nil {
			_ = s.end()
		}
	})
	s.started()
	if s.software == sim.Valkey91 { // it reads its clock once a millisecond, and goes on by itself in between
		s.clock = nil
	}
	return s
}

// started prepares a process that has just started.
func (s *server) started() {
	// The simulated nodes remove a key only when it is looked at, and so does this one then: see the deviations.
	s.must(s.client.Do(context.Background(), "debug", "set-active-expire", "0").Err())
	info, err := s.client.Info(context.Background(), "server").Result()
	s.must(err)
	s.software = softwareOf(info)
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			s.run = strings.TrimSpace(id)
		}
	}
}

// softwareOf is what a server runs, by what it says of itself: the last of the simulated ones that is no newer.
func softwareOf(info string) sim.Software {
	at := func(name string) (major, minor int) {
		_, version, is := strings.Cut(info, name+"_version:")
		if is {
			_, _ = fmt.Sscanf(version, "%d.%d", &major, &minor)
		}
		return major, minor
	}
	if major, minor := at("valkey"); major > 0 {
		switch {
		case major >= 9:
			return sim.Valkey91
		case major == 8 && minor >= 1:
			return sim.Valkey81
		}
		return sim.Redis70
	}
	switch major, minor := at("redis"); {
	case major > 8 || major == 8 && minor >= 4:
		return sim.Redis84
	case major == 8:
		return sim.Redis80
	}
	return sim.Redis70
}

// forget makes the server as good as new, except for its run id.
func (s *server) forget() {
	s.forgetSubscribers()
	s.must(s.client.FlushAll(context.Background()).Err())
	s.must(s.client.ScriptFlush(context.Background()).Err())
	// Another node, which does not know that the server knew its scripts.
	if s.end != nil {
		s.must(s.end())
	}
	nodes, end := s.adapter.Open(s.tb, adaptertest.Config{Dial: s.sent.Dial}, s.process.Addr)
	s.node, s.end = nodes[0], end
}

func (s *server) must(err error) {
	s.tb.Helper()
	if err != nil {
		s.tb.Fatal(err)
	}
}

func (s *server) call(args []string) rediscmd.Reply { return s.do(rediscmd.Request{Args: args}) }

func (s *server) script(args []string) rediscmd.Reply { return s.do(callingScript(args)) }

func (s *server) do(r rediscmd.Request) rediscmd.Reply {
	return redisconn.New(s.client, driver.SystemClock()).Do(time.Now().Add(patience), r)
}

func (s *server) ask(c driver.Command) (driver.Reply, int) {
	answer := make(chan driver.Reply, 1)
	s.sent.Take()
	c.Deadline = time.Now().Add(patience)
	c.Done = func(_ *driver.Command, r driver.Reply) { answer <- r }
	s.node.Do([]*driver.Command{&c})
	select {
	case r := <-answer:
		return r, len(s.sent.Take())
	case <-time.After(2 * patience):
		s.tb.Fatalf("no reply to %v", c.Op)
		panic("unreachable")
	}
}

// receive takes what comes next on a subscriber's connection.
func (s *server) receive(p *redis.PubSub) any {
	m, err := p.ReceiveTimeout(context.Background(), patience)
	s.must(err)
	return m
}

func (s *server) subscribe(channel string) {
	p := s.client.Subscribe(context.Background(), channel)
	s.receive(p) // the confirmation
	s.subscribers[channel] = append(s.subscribers[channel], p)
}

func (s *server) unsubscribe(channel string) {
	p := s.subscribers[channel][0]
	s.subscribers[channel] = s.subscribers[channel][1:]
	s.must(p.Unsubscribe(context.Background(), channel))
	s.receive(p)
	s.must(p.Close())
}

func (s *server) heard(channel, last string) (all [][]string) {
	for _, p := range s.subscribers[channel] {
		var messages []string
		for !slices.Contains(messages, last) {
			messages = append(messages, s.receive(p).(*redis.Message).Payload)
		}
		all = append(all, messages)
	}
	return all
}

func (s *server) forgetSubscribers() {
	for _, subscribers := range s.subscribers {
		for _, p := range subscribers {
			_ = p.Close()
		}
	}
	clear(s.subscribers)
}

func (s *server) runID() string { return s.run }

func (s *server) restart() {
	s.forgetSubscribers()
	s.process.Kill()
	s.process.Restart()
	s.started()
}

// timedServer is one whose clock is ours. Without a C compiler the test is skipped, and newServer fails it if
// redisserver.RequireEnv is set.
func timedServer(tb testing.TB) *server {
	tb.Helper()
	s := newServer(tb, adaptertest.GoRedis)
	if s.clock == nil {
		noClock(tb.Skipf)
	}
	return s
}

// sweep has the server look for expired keys once, as it does by itself elsewhere.
func (s *server) sweep() {
	expired := func() int {
		info, err := s.client.Info(context.Background(), "stats").Result()
		s.must(err)
		for line := range strings.Lines(info) {
			if number, ok := strings.CutPrefix(line, "expired_keys:"); ok {
				n, err := strconv.Atoi(strings.TrimSpace(number))
				s.must(err)
				return n
			}
		}
		s.tb.Fatal("INFO stats gives no expired_keys")
		panic("unreachable")
	}
	before := expired()
	s.must(s.client.Do(context.Background(), "debug", "set-active-expire", "1").Err())
	for deadline := time.Now().Add(patience); expired() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.tb.Fatalf("nothing expired within %v", patience)
		}
	}
	s.must(s.client.Do(context.Background(), "debug", "set-active-expire", "0").Err())
}

func noClock(say func(format string, args ...any)) {
	const message = "time is NOT compared with redis-server: there is no C compiler cc on the PATH (Debian package gcc), which its clock needs, " +
		"or it is a Valkey 9, whose clock does not stand still"
	fmt.Fprintln(os.Stderr, "sim/conformance: "+message)
	say(message)
}
