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

	program   string // one of its programs
	elsewhere string // where that is if it is not on the PATH, as a pattern; empty if nowhere
	debian    string // the package that has it
	fastest   int    // how many times as fast as its scenario a run can be at the most; 0 for no limit
	// evictions, promotions and clocks are why there are no such faults of it; empty if there are.
	evictions, promotions, clocks string
}

// The kinds of servers. Debian has the programs of PostgreSQL and ZooKeeper in none of the PATH. etcd counts leases in seconds,
// and looks for those that are over twice a second, however fast a run is; members of a ZooKeeper ensemble wait for each
// other's votes for a fifth of a second.
var (
	Redis = &Kind{Name: "redis-server", program: "redis-server", debian: "redis-server", IsRedis: true}
	Etcd  = &Kind{Name: "etcd", program: "etcd", debian: "etcd-server", fastest: 2,
		evictions: "etcd evicts no keys", promotions: "etcd elects its leader itself",
		clocks: "it changes the clock of etcd, a Go program, which does not ask the C library for the time"}
	Postgres = &Kind{Name: "PostgreSQL", program: "initdb", elsewhere: "/usr/lib/postgresql/*/bin/initdb", debian: "postgresql",
		evictions: "PostgreSQL evicts no keys", promotions: "the PostgreSQL servers of tier live have no standby",
		clocks: "it changes the clock of a PostgreSQL server, into which tier live loads no library for that"}
	ZooKeeper = &Kind{Name: "ZooKeeper", program: "zkServer.sh", elsewhere: "/usr/share/zookeeper/bin/zkServer.sh", debian: "zookeeper",
		fastest: 2, evictions: "ZooKeeper evicts no nodes", promotions: "ZooKeeper elects its leader itself",
		clocks: "it changes the clock of ZooKeeper, into whose Java machine tier live loads no library for that"}
)

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

// Refuses is why a fault cannot be put on such a server; empty if it can. on is what a run has to know of the fault.
func (k *Kind) Refuses(f faults.Fault, on faults.Live) string {
	switch f.(type) {
	case *faults.Evict:
		return k.evictions
	case *faults.Promote, *faults.Failover:
		return k.promotions
	}
	if on.Clocks {
		return k.clocks
	}
	return ""
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
