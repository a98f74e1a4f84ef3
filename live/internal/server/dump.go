//go:build linux

package server

import (
	"fmt"
	"strconv"
	"strings"

	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// dumpScript returns a line for each key: the key, a digest of its value, and when it expires by the server's clock, in
// milliseconds.
const dumpScript = `local out = {}
for _, k in ipairs(redis.call('KEYS', '*')) do
  out[#out+1] = k .. '\t' .. redis.sha1hex(redis.call('DUMP', k)) .. '\t' .. redis.call('PEXPIRETIME', k)
end
return table.concat(out, '\n')`

// Dump is what the server knows that a restart can take from it.
func (s *Server) Dump() ([]redis.Record, error) { return s.software.dump(s) }

func (redisServer) dump(s *Server) ([]redis.Record, error) {
	text, err := redisproc.Ask(s.Addr, "EVAL", dumpScript, "0")
	if err != nil {
		return nil, fmt.Errorf("live: what %s knows: %w", s.Name, err)
	}
	var records []redis.Record
	for line := range strings.Lines(text) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 3 {
			return nil, fmt.Errorf("live: what %s knows: %q", s.Name, line)
		}
		expires, err := strconv.ParseInt(field[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("live: what %s knows: %w", s.Name, err)
		}
		records = append(records, redis.Record{Key: field[0], Value: field[1], ExpiresAt: max(expires, 0)})
	}
	return records, nil
}

// Wall is the server's clock in milliseconds.
func (s *Server) Wall() int64 { return s.Clocks.WallNow().UnixMilli() }
