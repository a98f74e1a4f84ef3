package server

import (
	"redlocksim/faults"
	"redlocksim/lockprogram/lines"
)

// Kind is what there is to know of the servers that nodes can run.
type Kind struct {
	// Command is the program, for people.
	Command string
	// Speed is how many times as fast as its scenario a run can be at the most.
	Speed int
	// Refuses is why a fault cannot be put on such a server; empty if it can. on is what a run has to know of the fault.
	Refuses func(f faults.Fault, on faults.Live) string
	// Replicas says that nodes can have replicas.
	Replicas bool
}

// KindOf is the kind of a server. The program of a lock has named one that there is.
func KindOf(s lines.Server) *Kind {
	return map[lines.Server]*Kind{lines.Redis: &redisKind, lines.Etcd: &etcdKind, lines.Postgres: &postgresKind}[s]
}

// fastest is no limit.
const fastest = 1000

var redisKind = Kind{Command: "redis-server", Speed: fastest, Replicas: true, Refuses: func(faults.Fault, faults.Live) string { return "" }}

// etcdKind: etcd counts leases in seconds, and looks for those that are over twice a second, however fast a run is.
var etcdKind = Kind{Command: "etcd", Speed: 2, Refuses: func(f faults.Fault, on faults.Live) string {
	switch f.(type) {
	case *faults.Evict:
		return "etcd evicts no keys"
	case *faults.Promote:
		return "etcd elects its leader itself"
	}
	if on.Clocks {
		return "it changes the clock of etcd, a Go program, which does not ask the C library for the time"
	}
	return ""
}}

var postgresKind = Kind{Command: "PostgreSQL", Speed: fastest, Refuses: func(f faults.Fault, on faults.Live) string {
	switch f.(type) {
	case *faults.Evict:
		return "PostgreSQL evicts no keys"
	case *faults.Promote:
		return "the PostgreSQL servers of tier live have no standby"
	}
	if on.Clocks {
		return "it changes the clock of a PostgreSQL server, into which tier live loads no library for that"
	}
	return ""
}}
