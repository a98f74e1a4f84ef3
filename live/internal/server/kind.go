package server

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/lockprogram/lines"
)

// Kind is what there is to know of the servers that nodes can run.
type Kind struct {
	// Name is what it is called, for people.
	Name string
	// IsRedis says that clients connect to it themselves, that its keys stay if nobody removes them, and that it can have
	// replicas. The locks of other servers end with their sessions, or have no time to live.
	IsRedis bool
	// Refuses is why a fault cannot be put on such a server; empty if it can. on is what a run has to know of the fault.
	Refuses func(f faults.Fault, on faults.Live) string

	program   string // one of its programs
	elsewhere string // where that is if it is not on the PATH, as a pattern; empty if nowhere
	debian    string // the package that has it
	fastest   int    // how many times as fast as its scenario a run can be at the most; 0 for no limit
}

// KindOf is the kind of a server: of redis if none is named. The program of a lock has named one that there is.
func KindOf(s lines.Server) *Kind {
	return map[lines.Server]*Kind{"": Redis, lines.Redis: Redis, lines.Etcd: Etcd, lines.Postgres: Postgres, lines.ZooKeeper: ZooKeeper}[s]
}

// AtMost is that speed, or the fastest that there is.
func (k *Kind) AtMost(speed int) int {
	if k.fastest == 0 {
		return speed
	}
	return min(speed, k.fastest)
}

// ErrNotInstalled is what the errors of Programs match.
var ErrNotInstalled = errors.New("the server is not installed")

// notInstalled is the error of a server that is not on this machine.
type notInstalled struct{ *Kind }

func (n notInstalled) Error() string {
	return fmt.Sprintf("there is no %s on this machine: install Debian's package %s, or have %s on the PATH", n.Name, n.debian, n.program)
}
func (n notInstalled) Is(target error) bool { return target == ErrNotInstalled }

// Programs is the directory of the server's programs.
func (k *Kind) Programs() (dir string, err error) {
	find := func() (string, error) { return exec.LookPath(k.program) }
	if k.IsRedis {
		find = redisproc.Program
	}
	if found, err := find(); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			return filepath.Dir(found), nil
		}
	}
	found, _ := filepath.Glob(k.elsewhere) // the pattern is a good one
	if len(found) == 0 {
		return "", notInstalled{k}
	}
	return filepath.Dir(slices.Max(found)), nil
}

// Redis is redis-server.
var Redis = &Kind{Name: "redis-server", program: "redis-server", debian: "redis-server", IsRedis: true,
	Refuses: func(faults.Fault, faults.Live) string { return "" }}

// Etcd is etcd. It counts leases in seconds, and looks for those that are over twice a second, however fast a run is.
var Etcd = &Kind{Name: "etcd", program: "etcd", debian: "etcd-server", fastest: 2, Refuses: refuses("etcd evicts no keys",
	"etcd elects its leader itself", "it changes the clock of etcd, a Go program, which does not ask the C library for the time")}

// Postgres is PostgreSQL. Debian has its programs in none of the PATH.
var Postgres = &Kind{Name: "PostgreSQL", program: "initdb", elsewhere: "/usr/lib/postgresql/*/bin/initdb", debian: "postgresql",
	Refuses: refuses("PostgreSQL evicts no keys", "the PostgreSQL servers of tier live have no standby",
		"it changes the clock of a PostgreSQL server, into which tier live loads no library for that")}

// ZooKeeper is Apache ZooKeeper. Its members wait for each other's votes for a fifth of a second, however fast a run is.
// Debian has its programs in none of the PATH.
var ZooKeeper = &Kind{Name: "ZooKeeper", program: "zkServer.sh", elsewhere: "/usr/share/zookeeper/bin/zkServer.sh", debian: "zookeeper", fastest: 2,
	Refuses: refuses("ZooKeeper evicts no nodes", "ZooKeeper elects its leader itself",
		"it changes the clock of ZooKeeper, into whose Java machine tier live loads no library for that")}

// refuses gives these reasons why such a server has no evictions, no promotions and no changes of its clock.
func refuses(evictions, promotions, clocks string) func(faults.Fault, faults.Live) string {
	return func(f faults.Fault, on faults.Live) string {
		switch f.(type) {
		case *faults.Evict:
			return evictions
		case *faults.Promote, *faults.Failover:
			return promotions
		}
		if on.Clocks {
			return clocks
		}
		return ""
	}
}
