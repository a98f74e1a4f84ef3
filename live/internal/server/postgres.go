//go:build linux

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"redlocksim/internal/child"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// postgres is a PostgreSQL server, with user and database postgres and no password.
type postgres struct {
	*Server
	programs string // their directory
}

// newPostgres makes PostgreSQL servers. The directory of the first is initialized, and the others are copies of it.
func newPostgres(ctx context.Context, all []*Server, _ Config, programs string) error {
	as, err := unprivileged()
	if err != nil {
		return err
	}
	for i, s := range all {
		x := postgres{s, programs}
		if as != nil {
			if err := os.Chown(s.dir, int(as.Uid), int(as.Gid)); err != nil {
				return err
			}
		}
		fill := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata", s.dir, "--username", "postgres",
			"--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8", "--wal-segsize", "1", "--no-instructions")
		fill.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
		if i > 0 {
			fill = exec.CommandContext(ctx, "cp", "--archive", all[0].dir+"/.", s.dir)
		}
		if said, err := fill.CombinedOutput(); err != nil {
			return fmt.Errorf("live: %s: %w: %s", s.Name, err, said)
		}
		s.command = func() (*exec.Cmd, error) { return x.server(as), nil }
		s.ready = x.isReady
		s.shutdown = syscall.SIGINT // which rolls open transactions back
		s.dump, s.killed, s.notes = x.locks, x.forget, x.committed
	}
	return nil
}

// unprivileged is the account for a PostgreSQL server, which refuses to be root's; nil for that of this process.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("live: PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, gidErr)
}

func (x postgres) server(as *syscall.Credential) *exec.Cmd {
	host, port := redisproc.HostAndPort(x.Addr)
	args := []string{"-D", x.dir, "-h", host, "-p", port, "-k", ""}
	for _, setting := range []string{
		// Nothing outlives the processes but what is in the directory.
		"shared_memory_type=mmap", "dynamic_shared_memory_type=mmap",
		"shared_buffers=16MB", "max_connections=40", "autovacuum=off", "log_min_messages=fatal",
		// When an effect was committed is asked for after the run.
		"track_commit_timestamp=on",
	} {
		args = append(args, "-c", setting)
	}
	cmd := exec.Command(filepath.Join(x.programs, "postgres"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	return cmd
}

// says is what the server says in a file of how far it is.
func (x postgres) says() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(x.dir, "postmaster.pid"))
	return strings.Split(string(text), "\n"), err
}

func (x postgres) isReady(p *child.Process) (bool, error) {
	says, err := x.says()
	return len(says) > 7 && says[0] == strconv.Itoa(p.PID()) && strings.TrimSpace(says[7]) == "ready", err
}

// forget removes the few bytes of shared memory by which a server that was killed tells whether another one uses its directory.
// What was committed is fsynced.
func (x postgres) forget(bool) error {
	says, err := x.says()
	if errors.Is(err, os.ErrNotExist) {
		return nil // it has exited by itself
	}
	var key, id int
	if err == nil && len(says) > 6 {
		_, err = fmt.Sscan(says[6], &key, &id)
	}
	if err == nil {
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	if err != nil {
		return fmt.Errorf("live: the shared memory of %s: %w", x.Name, err)
	}
	return nil
}

// locksQuery has a row for each lock that a session or an open transaction has: none of them survives a restart.
const locksQuery = `SELECT locktype, classid, objid, transactionid, virtualtransaction FROM pg_locks
	WHERE granted AND locktype IN ('advisory', 'transactionid') AND pid <> pg_backend_pid()`

func (x postgres) locks() (held []redis.Record, err error) {
	text, err := x.query(locksQuery)
	for line := range strings.Lines(text) {
		held = append(held, redis.Record{Key: strings.TrimSpace(line)})
	}
	return held, err
}

// query asks the server, and returns a line for each row.
func (x postgres) query(sql string) (string, error) {
	host, port := redisproc.HostAndPort(x.Addr)
	ctx, cancel := context.WithTimeout(context.Background(), redisproc.Patience)
	defer cancel()
	psql := exec.CommandContext(ctx, filepath.Join(x.programs, "psql"), "--no-psqlrc", "--tuples-only", "--no-align",
		"--host", host, "--port", port, "--username", "postgres", "--command", sql, "postgres")
	var said strings.Builder
	psql.Stderr = &said
	text, err := psql.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, said.String())
	}
	return string(text), nil
}

// Committed is a note that a transaction has left, and when that was committed.
type Committed struct {
	Note string
	At   time.Time
}

// committed are the notes that committed transactions have left in the table effects.
func (x postgres) committed() (all []Committed, err error) {
	table, err := x.query("SELECT to_regclass('effects')")
	if err != nil || strings.TrimSpace(table) == "" { // no client has come as far as to make it
		return nil, err
	}
	text, err := x.query("SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000, note FROM effects")
	for line := range strings.Lines(text) {
		at, note, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		micros, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return nil, fmt.Errorf("live: a note of %s: %w", x.Name, err)
		}
		all = append(all, Committed{note, time.UnixMicro(int64(micros))})
	}
	return all, err
}
