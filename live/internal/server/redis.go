//go:build linux

package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// newRedis makes redis-servers.
func newRedis(all []*Server, c Config) {
	for i, s := range all {
		forbidden := ""
		if i == len(all)-1 {
			forbidden = c.Forbidden
		}
		s.command = func() (*exec.Cmd, error) { return s.redisServer(c, forbidden) }
		s.ready = redisproc.Answers(s.Addr)
		s.dump = s.keys
		s.killed = func(withoutPower bool) error {
			if !withoutPower || !c.Persistence.SurvivesKill() {
				return nil
			}
			return s.cutToSynced()
		}
	}
}

func (s *Server) redisServer(c Config, forbidden string) (*exec.Cmd, error) {
	args := []string{
		// A replica that was sent a file gets changes as soon as it has loaded it; without a file, only after its next
		// message, one second later. Periodic work is done often.
		"--repl-diskless-sync", "no", "--hz", "50",
		// A master that is shut down does not wait for its replicas.
		"--shutdown-timeout", "0",
	}
	switch c.Persistence {
	case redis.EverySecond:
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	case redis.Always:
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	case redis.Snapshots: // it makes one when more than so many seconds have passed
		args = append(args, "--save", fmt.Sprintf("%d 1", c.SnapshotEvery/time.Second-1))
	}
	if forbidden != "" {
		args = append(args, "--rename-command", forbidden, "")
	}
	if forbidden == redis.Scripts {
		args = append(args, "--rename-command", "EVALSHA", "")
	}
	if s.Successor != "" {
		s.Follows, s.Successor = s.Successor, ""
	}
	if s.Follows != "" {
		master, port := redisproc.HostAndPort(s.Follows)
		args = append(args, "--replicaof", master+" "+port)
	}
	program, err := redisproc.Program()
	if err != nil {
		return nil, err
	}
	var env []string
	if c.preload != "" {
		env = s.Clocks.Preload(c.preload)
	}
	if c.Persistence != redis.Snapshots {
		// A replica's copy of its master's data is not persistence.
		if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return redisproc.RedisServer(program, s.Addr, s.dir, env, args...), nil
}

// cutToSynced cuts the append-only files back to what was fsynced.
func (s *Server) cutToSynced() error {
	logs, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(logs) == 0 {
		return fmt.Errorf("live: %s has no append-only file: %w", s.Name, err)
	}
	for _, path := range logs {
		if err := s.Clocks.CutToSynced(path); err != nil {
			return err
		}
	}
	return nil
}

// keysScript returns a line for each key: the key, a digest of its value, and when it expires by the server's clock, in
// milliseconds.
const keysScript = `local out = {}
for _, k in ipairs(redis.call('KEYS', '*')) do
  out[#out+1] = k .. '\t' .. redis.sha1hex(redis.call('DUMP', k)) .. '\t' .. redis.call('PEXPIRETIME', k)
end
return table.concat(out, '\n')`

func (s *Server) keys() (records []redis.Record, err error) {
	text, err := redisproc.Ask(s.Addr, "EVAL", keysScript, "0")
	for line := range strings.Lines(text) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 3 {
			return nil, fmt.Errorf("%q", line)
		}
		expires, err := strconv.ParseInt(field[2], 10, 64)
		if err != nil {
			return nil, err
		}
		records = append(records, redis.Record{Key: field[0], Value: field[1], ExpiresAt: max(expires, 0)})
	}
	return records, err
}
