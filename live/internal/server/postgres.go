//go:build linux

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// postgres is a PostgreSQL server, with user and database postgres and no password.
type postgres struct {
	programs string // their directory
	account  *account
}

// account is the user that a server runs as, since PostgreSQL refuses to be root. Nil is this process's.
type account struct{ uid, gid int }

// unprivileged is the account for a PostgreSQL server.
func unprivileged() (*account, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("live: PostgreSQL does not run as root: %w", err)
	}
	a := &account{}
	a.uid, err = strconv.Atoi(u.Uid)
	if err == nil {
		a.gid, err = strconv.Atoi(u.Gid)
	}
	return a, err
}

// as has a command run as the account, in a process group of its own.
func (a *account) as(cmd *exec.Cmd) *exec.Cmd {
	child.InOwnGroup(cmd)
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}

// InitPostgres makes the directory of a server that was never started, which NewPostgres copies.
func InitPostgres(ctx context.Context, dir string) error {
	programs, err := Postgres.Programs()
	if err != nil {
		return err
	}
	a, err := unprivileged()
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if a != nil {
		if err := os.Chown(dir, a.uid, a.gid); err != nil {
			return err
		}
	}
	p, err := child.Start(a.as(exec.Command(filepath.Join(programs, "initdb"), "--pgdata", dir, "--username", "postgres",
		"--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8", "--wal-segsize", "1", "--no-instructions")))
	if err != nil {
		return err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		p.Kill()
		return context.Cause(ctx)
	}
	if _, err := os.Stat(filepath.Join(dir, "PG_VERSION")); err != nil {
		return fmt.Errorf("live: initdb: %s\n%s", p.Status(), p.Output())
	}
	return nil
}

// NewPostgres makes the directory of a server that is to be started, a copy of the one that InitPostgres has made.
func NewPostgres(name, dir, initialized string) (*Server, error) {
	programs, err := Postgres.Programs()
	if err != nil {
		return nil, err
	}
	a, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if said, err := exec.Command("cp", "--archive", initialized, dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("live: %s: %w: %s", name, err, said)
	}
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	return &Server{Name: name, Kind: Postgres, Addr: redisproc.FreeAddr(), dir: dir, Clocks: clocks, software: &postgres{programs, a}}, nil
}

func (x *postgres) start(ctx context.Context, s *Server) (*child.Process, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return nil, err
	}
	args := []string{"-D", s.dir, "-h", host, "-p", port, "-k", ""}
	for _, setting := range []string{
		// Nothing outlives the processes but what is in the directory.
		"shared_memory_type=mmap", "dynamic_shared_memory_type=mmap",
		"shared_buffers=16MB", "max_connections=40", "autovacuum=off", "log_min_messages=fatal",
		// When an effect was committed is asked for after the run.
		"track_commit_timestamp=on",
	} {
		args = append(args, "-c", setting)
	}
	p, err := child.Start(x.account.as(exec.Command(filepath.Join(x.programs, "postgres"), args...)))
	if err != nil {
		return nil, err
	}
	if err := redisproc.Await(ctx, p, func() (bool, error) {
		text, err := os.ReadFile(x.lockFile(s))
		lines := strings.Split(string(text), "\n")
		return len(lines) > 7 && lines[0] == strconv.Itoa(p.PID()) && strings.TrimSpace(lines[7]) == "ready", err
	}); err != nil {
		p.Kill()
		return nil, fmt.Errorf("postgres at %s: %w\n%s", s.Addr, err, p.Output())
	}
	return p, nil
}

// lockFile is a file in which the server says how far it is.
func (*postgres) lockFile(s *Server) string { return filepath.Join(s.dir, "postmaster.pid") }

// shutdown rolls open transactions back.
func (*postgres) shutdown() syscall.Signal { return syscall.SIGINT }

// killed removes the few bytes of shared memory by which the server tells whether another one uses its directory. What was
// committed is fsynced.
func (x *postgres) killed(s *Server, _ bool) error {
	text, err := os.ReadFile(x.lockFile(s))
	if errors.Is(err, os.ErrNotExist) {
		return nil // it has exited by itself
	}
	lines := strings.Split(string(text), "\n")
	var key, id int
	if err == nil && len(lines) > 6 {
		_, err = fmt.Sscan(lines[6], &key, &id)
	}
	if err == nil {
		_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
	if err != nil {
		return fmt.Errorf("live: the shared memory of %s: %w", s.Name, err)
	}
	return nil
}

// locksQuery has a row for each lock that a session or an open transaction has: none of them survives a restart.
const locksQuery = `SELECT locktype, classid, objid, transactionid, virtualtransaction FROM pg_locks
	WHERE granted AND locktype IN ('advisory', 'transactionid') AND pid <> pg_backend_pid()`

func (x *postgres) dump(s *Server) ([]redis.Record, error) {
	text, err := x.query(s, locksQuery)
	var held []redis.Record
	for line := range strings.Lines(text) {
		held = append(held, redis.Record{Key: strings.TrimSpace(line)})
	}
	return held, err
}

// query asks the server, and returns a line for each row.
func (x *postgres) query(s *Server, sql string) (string, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), redisproc.Patience)
	defer cancel()
	psql := exec.CommandContext(ctx, filepath.Join(x.programs, "psql"), "--no-psqlrc", "--tuples-only", "--no-align",
		"--host", host, "--port", port, "--username", "postgres", "--command", sql, "postgres")
	var said strings.Builder
	psql.Stderr = &said
	text, err := psql.Output()
	if err != nil {
		return "", fmt.Errorf("live: what %s knows: %w: %s", s.Name, err, said.String())
	}
	return string(text), nil
}

// Committed is a note that a transaction has left, and when that was committed.
type Committed struct {
	Note string
	At   time.Time
}

// Notes are those that committed transactions have left in the table effects; only a PostgreSQL server has any.
func (s *Server) Notes() ([]Committed, error) {
	db, is := s.software.(*postgres)
	if !is {
		return nil, nil
	}
	table, err := db.query(s, "SELECT to_regclass('effects')")
	if err != nil || strings.TrimSpace(table) == "" { // no client has come as far as to make it
		return nil, err
	}
	text, err := db.query(s, "SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000, note FROM effects")
	var all []Committed
	for line := range strings.Lines(text) {
		at, note, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		micros, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return nil, fmt.Errorf("live: a note of %s: %w", s.Name, err)
		}
		all = append(all, Committed{note, time.UnixMicro(int64(micros))})
	}
	return all, err
}
