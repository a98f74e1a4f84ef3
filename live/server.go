//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim"
)

// server is a node: a redis-server process on a loopback port, with a directory of its own.
type server struct {
	name        string
	dir         string
	addr        string
	persistence sim.Persistence
	preload     string // the library; empty without, and then the clocks are the machine's
	clocks      *faketime.Clocks
	follows     string // the address of the master that it is a replica of; empty for a master
	successor   string // of a master in whose place another was promoted: the address of that one, which it follows after its next start

	process *process // nil while it is down
	keeper  *keeper  // of the port, while it is down
	paused  bool
	isDark  bool         // it is down, and without power
	knew    []sim.Record // when it was paused or stopped last, if anybody may ask; the values are digests
}

// launch starts the server for the first time, on a free port.
func (s *server) launch(ctx context.Context) error {
	return redisproc.OnFreePort(ctx, func(addr string) error {
		s.addr = addr
		return s.start(ctx)
	})
}

// start starts the server with what is in its directory, and returns when it answers.
func (s *server) start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	args := []string{"--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--daemonize", "no", "--appendonly", "no",
		// A replica that was sent a file is told of changes as soon as it has it; without a file, from its next word on, which
		// comes once a second. What redis-server looks after from time to time, it does often.
		"--repl-diskless-sync", "no", "--hz", "50",
		// A master that is shut down does not wait for its replicas.
		"--shutdown-timeout", "0"}
	switch s.persistence {
	case sim.EverySecond:
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	case sim.Always:
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	if s.successor != "" {
		s.follows, s.successor = s.successor, ""
	}
	if s.follows != "" {
		master, port, err := net.SplitHostPort(s.follows)
		if err != nil {
			return err
		}
		args = append(args, "--replicaof", master+" "+port)
	}
	cmd := exec.Command("redis-server", args...)
	cmd.Env = os.Environ()
	if s.preload != "" {
		cmd.Env = append(cmd.Env, s.clocks.Preload(s.preload)...)
	}
	// What replicas were brought up to date with is not persistence.
	if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.keeper.close()
	s.keeper = nil
	p, err := redisproc.Start(ctx, inOwnGroup(cmd), s.addr)
	if err != nil {
		return fmt.Errorf("live: %s: %w", s.name, err)
	}
	s.process, s.paused = &process{p}, false
	return nil
}

// stop takes the server down and keeps its port: connections to a machine that runs are refused there, those to one
// without power get no answer.
func (s *server) stop(how faults.Stop) error {
	p := s.process
	s.process = nil
	if how == faults.ShutDown {
		p.signal(syscall.SIGCONT)
		if !p.End(syscall.SIGTERM, redisproc.Patience) {
			p.Kill()
			return fmt.Errorf("live: %s did not exit within %v of SIGTERM", s.name, redisproc.Patience)
		}
	} else {
		p.Kill()
	}
	if how == faults.PoweredOff && s.persistence != sim.NoPersistence {
		logs, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
		if err != nil || len(logs) == 0 {
			return fmt.Errorf("live: %s has no append-only file: %w", s.name, err)
		}
		for _, path := range logs {
			if err := s.clocks.CutToSynced(path); err != nil {
				return err
			}
		}
	}
	var err error
	s.keeper, err = keep(s.addr, how == faults.PoweredOff)
	return err
}

// close ends the server, whatever state it is in.
func (s *server) close() error {
	if s.process != nil {
		s.process.Kill()
	}
	s.keeper.close()
	return s.clocks.Close()
}

// keeper listens on the port of a server that is down.
type keeper struct {
	listener net.Listener
	mu       sync.Mutex
	closed   bool
	silent   []net.Conn
}

func keep(addr string, silently bool) (*keeper, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("live: the port of a server that is down: %w", err)
	}
	k := &keeper{listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			k.mu.Lock()
			if silently && !k.closed {
				k.silent = append(k.silent, c)
			} else {
				redisproc.Reset(c)
			}
			k.mu.Unlock()
		}
	}()
	return k, nil
}

// close lets the port go.
func (k *keeper) close() {
	if k == nil {
		return
	}
	_ = k.listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, c := range k.silent {
		redisproc.Reset(c)
	}
}

// dump is what the server knows, as it is given out by a script: lines with a key, its value's digest and when it expires
// by the server's clock, in milliseconds.
const dumpScript = `local out = {}
for _, k in ipairs(redis.call('KEYS', '*')) do
  out[#out+1] = k .. '\t' .. redis.sha1hex(redis.call('DUMP', k)) .. '\t' .. redis.call('PEXPIRETIME', k)
end
return table.concat(out, '\n')`

func (s *server) dump() ([]sim.Record, error) {
	text, err := redisproc.Ask(s.addr, "EVAL", dumpScript, "0")
	if err != nil {
		return nil, fmt.Errorf("live: what %s knows: %w", s.name, err)
	}
	var records []sim.Record
	for line := range strings.Lines(text) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 3 {
			return nil, fmt.Errorf("live: what %s knows: %q", s.name, line)
		}
		expires, err := strconv.ParseInt(field[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("live: what %s knows: %w", s.name, err)
		}
		records = append(records, sim.Record{Key: field[0], Value: field[1], ExpiresAt: max(expires, 0)})
	}
	return records, nil
}

// wall is the server's clock in milliseconds.
func (s *server) wall() int64 { return s.clocks.WallNow().UnixMilli() }
