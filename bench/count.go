//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// isSetUp tells the commands that set up a connection, and the harness's own, from those that the lock needs. INFO is of both
// kinds: the restart guard's script calls it.
func isSetUp(command string) bool {
	command, _, _ = strings.Cut(command, "|")
	switch command {
	case "hello", "auth", "select", "client", "ping", "echo", "monitor", "flushall":
		return true
	}
	return false
}

// counters is what the servers have counted since they started, all of them together.
type counters struct {
	executed float64 // commands, also those that scripts call
	scripts  float64 // EVAL and EVALSHA
	reads    float64 // from sockets: what arrives together is read together
	cpu      float64 // processor seconds
}

func (a counters) minus(b counters) counters {
	return counters{a.executed - b.executed, a.scripts - b.scripts, a.reads - b.reads, a.cpu - b.cpu}
}

func (c *cluster) count(ctx context.Context) (sum counters, err error) {
	err = c.each(ctx, func(ctx context.Context, i int, _ *redis.Client) error {
		ownInfos := float64(c.infos[i]) // this one is not counted yet
		commands, err := c.info(ctx, i, "commandstats")
		if err != nil {
			return err
		}
		for name, value := range commands {
			command := strings.TrimPrefix(name, "cmdstat_")
			if command == name || isSetUp(command) {
				continue
			}
			calls, err := strconv.ParseFloat(strings.TrimPrefix(value[:strings.IndexByte(value+",", ',')], "calls="), 64)
			if err != nil {
				return fmt.Errorf("INFO commandstats: %s:%s", name, value)
			}
			if command == "info" {
				calls -= ownInfos
			}
			sum.executed += calls
			if command == "eval" || command == "evalsha" {
				sum.scripts += calls
			}
		}
		cpu, err := c.info(ctx, i, "cpu")
		if err != nil {
			return err
		}
		for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
			seconds, err := strconv.ParseFloat(cpu[name], 64)
			if err != nil {
				return fmt.Errorf("INFO cpu: %w", err)
			}
			sum.cpu += seconds
		}
		stats, err := c.info(ctx, i, "stats")
		if err != nil {
			return err
		}
		reads, err := strconv.ParseFloat(stats["total_reads_processed"], 64)
		if err != nil {
			return fmt.Errorf("INFO stats: %w", err)
		}
		sum.reads += reads - float64(c.infos[i])
		return nil
	})
	return sum, err
}

// settling is how long nothing may happen before it counts as over.
const settling = 30 * time.Millisecond

// settled waits until the servers have nothing more to do, since many contestants do not wait for the last answers, and
// gives their counts. It waits for a node timeout at most: after that a contestant has given up.
func (c *cluster) settled(ctx context.Context) (last counters, err error) {
	for range nodeTimeout / settling {
		now, err := c.count(ctx)
		if err != nil || now.executed == last.executed && now.reads == last.reads {
			return now, err
		}
		last = now
		sleep(ctx, settling)
	}
	return last, nil
}

// traffic is what is sent to the servers, by command: as the contestant sent it, and as scripts called it there.
type traffic struct{ sent, inScripts map[string]int }

// sum adds up the commands of either kind.
func sum(commands map[string]int) (n int) {
	for _, calls := range commands {
		n += calls
	}
	return n
}

// watch has f run while the servers tell of every command (MONITOR), and gives what they told. Counts of the servers
// themselves do not tell a command that was sent from one that a script called.
func (c *cluster) watch(ctx context.Context, f func() error) (traffic, error) {
	t := traffic{map[string]int{}, map[string]int{}}
	var monitors []*monitor
	defer func() {
		for _, m := range monitors {
			_ = m.conn.Close()
		}
	}()
	for _, s := range c.servers {
		m, err := newMonitor(ctx, s.Addr)
		if err != nil {
			return t, err
		}
		monitors = append(monitors, m)
	}
	if err := f(); err != nil {
		return t, err
	}
	// What was sent before this is told before this.
	err := c.each(ctx, func(ctx context.Context, i int, control *redis.Client) error {
		if err := control.Echo(ctx, lastCommand).Err(); err != nil {
			return err
		}
		return monitors[i].readAll(t)
	})
	return t, err
}

const lastCommand = "bench-last-command"

type monitor struct {
	conn  net.Conn
	lines *bufio.Scanner
}

func newMonitor(ctx context.Context, addr string) (*monitor, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	m := &monitor{conn, bufio.NewScanner(conn)}
	m.lines.Buffer(nil, 1<<20) // a script is in one line with its source
	if _, err = io.WriteString(conn, "MONITOR\r\n"); err == nil && !m.lines.Scan() {
		err = fmt.Errorf("MONITOR: %w", m.lines.Err())
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return m, nil
}

// monitorLine is: +1700000000.123456 [0 127.0.0.1:4711] "set" "key" "value"; in place of the address lua for a script.
var monitorLine = regexp.MustCompile(`^\+[0-9.]+ \[\d+ (\S+)\] "([^"]*)"`)

// readAll counts what the server told, until the last command.
func (m *monitor) readAll(t traffic) error {
	for m.lines.Scan() {
		line := monitorLine.FindStringSubmatch(m.lines.Text())
		if line == nil {
			return fmt.Errorf("MONITOR: unknown line %q", m.lines.Text())
		}
		command := strings.ToLower(line[2])
		switch {
		case command == "echo" && strings.HasSuffix(m.lines.Text(), strconv.Quote(lastCommand)):
			return nil
		case line[1] == "lua":
			t.inScripts[command]++
		case isSetUp(command), command == "info":
		default:
			t.sent[command]++
		}
	}
	return fmt.Errorf("MONITOR: the connection ended: %w", m.lines.Err())
}
