//go:build linux

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// zookeeper is a member of a ZooKeeper ensemble.
//
// The members have addresses of which none exists, from a range for documentation, so that each connects to its peers through
// the SOCKS proxy that it is given: Java connects to loopback addresses without one.
type zookeeper struct {
	programs string // their directory
	number   int    // among the members, from 1
	members  []*Server
	speed    int
}

// NewZooKeeper makes the directories of the members of an ensemble that is to be started. Members
// elect the one with the highest number, all else being equal: that is the first.
func NewZooKeeper(names []string, dir func(i int) string, speed int) (members []*Server, err error) {
	programs, err := ZooKeeper.Programs()
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		z := &zookeeper{programs: programs, number: len(names) - i, speed: speed}
		s, err := z.newServer(name, dir(i), len(names) > 1)
		if err != nil {
			return members, err
		}
		members = append(members, s)
	}
	for _, s := range members {
		s.software.(*zookeeper).members = members
	}
	return members, nil
}

func (z *zookeeper) newServer(name, dir string, hasPeers bool) (*Server, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "myid"), fmt.Appendf(nil, "%d\n", z.number), 0o600); err != nil {
		return nil, err
	}
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	s := &Server{Name: name, Kind: ZooKeeper, Addr: redisproc.FreeAddr(), dir: dir, Clocks: clocks, software: z}
	if hasPeers {
		s.Peer, s.Votes = redisproc.FreeAddr(), redisproc.FreeAddr()
	}
	return s, nil
}

// Known is the address by which the members of an ensemble know one of the ports of a member.
func (s *Server) Known(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		panic(err) // it was reserved
	}
	return fmt.Sprintf("192.0.2.%d:%s", s.software.(*zookeeper).number, port)
}

// tick is ZooKeeper's unit of time at speed 1. Sessions end at its multiples, and a follower gives its leader up after ten.
const tick = 100 * time.Millisecond

// config is the text of the configuration.
func (z *zookeeper) config(s *Server) (string, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return "", err
	}
	lines := []string{
		"dataDir=" + s.dir, "clientPortAddress=" + host, "clientPort=" + port,
		fmt.Sprintf("tickTime=%d", tick.Milliseconds()/int64(z.speed)), "syncLimit=10", "initLimit=50",
		"minSessionTimeout=100", "maxSessionTimeout=3600000", "maxClientCnxns=0",
		"admin.enableServer=false", "4lw.commands.whitelist=srvr",
	}
	if s.Peer != "" {
		lines = append(lines, "quorumListenOnAllIPs=true")
		for _, m := range z.members {
			_, votes, err := net.SplitHostPort(m.Votes)
			if err != nil {
				return "", err
			}
			lines = append(lines, fmt.Sprintf("server.%d=%s:%s", m.software.(*zookeeper).number, m.Known(m.Peer), votes))
		}
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// start returns when the member listens to its peers: without a majority it serves no client.
func (z *zookeeper) start(ctx context.Context, s *Server) (*child.Process, error) {
	text, err := z.config(s)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "zoo.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	// A JVM that starts soon, and a log that is not made 64 MB long at once.
	args := []string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.preAllocSize=64",
		// Debian has the libraries in one directory, the Apache Software Foundation beside the programs.
		"-cp", "/usr/share/java/zookeeper.jar:" + filepath.Join(z.programs, "..", "lib", "*")}
	listens := s.Addr
	if s.Votes != "" {
		host, port, err := net.SplitHostPort(s.Tunnel)
		if err != nil {
			return nil, err
		}
		args = append(args, "-DsocksProxyHost="+host, "-DsocksProxyPort="+port, "-DsocksProxyVersion=4")
		listens = s.Votes
	}
	cmd := exec.Command("java", append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)...)
	p, err := child.Start(child.InOwnGroup(cmd))
	if err != nil {
		return nil, err
	}
	if err := redisproc.AwaitPort(ctx, p, listens); err != nil {
		p.Kill()
		return nil, fmt.Errorf("zookeeper at %s: %w\n%s", s.Addr, err, p.Output())
	}
	return p, nil
}

func (*zookeeper) shutdown() syscall.Signal { return syscall.SIGTERM }

// dump has nothing: what ZooKeeper has answered, nothing takes from it.
func (*zookeeper) dump(*Server) ([]redis.Record, error) { return nil, nil }

// killed has nothing to do: what ZooKeeper has answered is fsynced.
func (*zookeeper) killed(*Server, bool) error { return nil }

// Leader is the member of a running ensemble that leads it, when all others follow.
func Leader(ctx context.Context, members []*Server) (leader *Server, err error) {
	err = redisproc.Await(ctx, members[0].process, func() (bool, error) {
		leader = nil
		for _, s := range members {
			switch mode, err := s.mode(); {
			case err != nil:
				return false, err
			case mode != "follower":
				leader = s
			}
		}
		if leader == nil {
			return false, errors.New("nobody leads the ensemble")
		}
		return true, nil
	})
	return leader, err
}

// mode is what a member is: leader, follower or standalone. The error is that of one that does not serve yet.
func (s *Server) mode() (string, error) {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return "", err
	}
	said, err := io.ReadAll(c)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(said)) {
		if mode, is := strings.CutPrefix(line, "Mode: "); is {
			return strings.TrimSpace(mode), nil
		}
	}
	return "", fmt.Errorf("live: %s: %s", s.Name, said)
}
