//go:build unix

package redisserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/redisproc"
)

// StartReplica starts a server that replicates another, and waits until it has what that one has.
func StartReplica(tb testing.TB, of *Server, args ...string) *Server {
	tb.Helper()
	host, port := redisproc.HostAndPort(of.Addr)
	s := Start(tb, append([]string{"--replicaof", host + " " + port}, args...)...)
	s.until("the replica follows", func() bool { return strings.Contains(s.Ask("INFO", "replication"), "master_link_status:up") })
	return s
}

// StartSentinel starts a Sentinel of its own that watches a primary under a name, and waits until it knows its replicas. It
// finds a primary dead after half a second, and then has one of the replicas take over.
func StartSentinel(tb testing.TB, name string, primary *Server, replicas int) *Server {
	tb.Helper()
	s, program := reserve(tb)
	host, port := redisproc.HostAndPort(primary.Addr)
	ownHost, ownPort := redisproc.HostAndPort(s.Addr)
	file := filepath.Join(s.Dir, "sentinel.conf")
	config := fmt.Sprintf("bind %s\nport %s\ndir %s\nsentinel monitor %s %s %s 1\nsentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 5000\n",
		ownHost, ownPort, s.Dir, name, host, port, name, name)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		tb.Fatalf("redisserver: %v", err)
	}
	s.command = func() *exec.Cmd { return exec.Command(program, file, "--sentinel") }
	s.start()
	known := fmt.Sprintf("slaves=%d", replicas)
	s.until("the Sentinel knows the replicas", func() bool { return strings.Contains(s.Ask("INFO", "sentinel"), known) })
	return s
}

// StartMember starts a server of a cluster that has no other yet, and says on which port those would find it. The port that a
// server chooses by itself may be one that the system has given to a connection.
func StartMember(tb testing.TB, args ...string) (s *Server, bus string) {
	tb.Helper()
	_, bus = redisproc.HostAndPort(redisproc.FreeAddr())
	return Start(tb, append(args, "--cluster-enabled", "yes", "--cluster-port", bus)...), bus
}

// StartCluster starts a cluster of three primaries with a replica each: the one of primary i is i+3.
func StartCluster(tb testing.TB) []*Server {
	tb.Helper()
	const primaries = 3
	var all []*Server
	var buses []string
	for range 2 * primaries {
		s, bus := StartMember(tb, "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0")
		all, buses = append(all, s), append(buses, bus)
	}
	host, port := redisproc.HostAndPort(all[0].Addr)
	for i, s := range all {
		s.Ask("CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		if i > 0 {
			s.Ask("CLUSTER", "MEET", host, port, buses[0])
		}
		if i < primaries {
			s.Ask("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(16384*i/primaries), fmt.Sprint(16384*(i+1)/primaries-1))
		}
	}
	for i, s := range all[primaries:] {
		id := all[i].Ask("CLUSTER", "MYID")
		s.until("all have met", func() bool { return strings.Contains(s.Ask("CLUSTER", "NODES"), id) })
		s.Ask("CLUSTER", "REPLICATE", id)
		s.until("the replica follows", func() bool { return strings.Contains(s.Ask("INFO", "replication"), "master_link_status:up") })
	}
	for _, s := range all {
		s.until("the cluster is whole", func() bool {
			return strings.Contains(s.Ask("CLUSTER", "INFO"), "cluster_state:ok") && strings.Count(s.Ask("CLUSTER", "NODES"), "slave") == primaries
		})
	}
	return all
}

// Ask sends the server a command and returns the reply.
func (s *Server) Ask(args ...string) string {
	s.tb.Helper()
	reply, err := redisproc.Ask(s.Addr, args...)
	if err != nil {
		s.tb.Fatalf("redisserver: %v", err)
	}
	return reply
}

// Abandon has the server's replicas learn nothing of what happens from now on.
func (s *Server) Abandon() {
	s.tb.Helper()
	s.Ask("ACL", "SETUSER", "default", "-psync", "-sync")
	s.Ask("CLIENT", "KILL", "TYPE", "replica")
	s.until("no replica follows", func() bool { return strings.Contains(s.Ask("INFO", "replication"), "connected_slaves:0") })
}

func (s *Server) until(what string, is func() bool) {
	s.tb.Helper()
	for start := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > redisproc.Patience {
			s.tb.Fatalf("redisserver: not within %v: %s", redisproc.Patience, what)
		}
	}
}
