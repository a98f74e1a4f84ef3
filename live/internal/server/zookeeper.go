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
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
)

// tick is ZooKeeper's unit of time at speed 1. Sessions end at its multiples, and a follower gives its leader up after ten.
const tick = 100 * time.Millisecond

// newZooKeeper makes the members of a ZooKeeper ensemble. They elect the one with the highest number, all else being equal:
// that is the first.
//
// The members have addresses of which none exists, from a range for documentation, so that each connects to its peers through
// the SOCKS proxy that it is given: Java connects to loopback addresses without one.
func newZooKeeper(all []*Server, c Config, programs string) error {
	var ensemble []string
	for i, s := range all {
		number := len(all) - i
		if err := os.WriteFile(filepath.Join(s.dir, "myid"), fmt.Appendf(nil, "%d\n", number), 0o600); err != nil {
			return err
		}
		// A JVM that starts soon, and a log that is not made 64 MB long at once.
		args := []string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.preAllocSize=64",
			// Debian has the libraries in one directory, the Apache Software Foundation beside the programs.
			"-cp", "/usr/share/java/zookeeper.jar:" + filepath.Join(programs, "..", "lib", "*")}
		listens := s.Addr
		if len(all) > 1 {
			listens = redisproc.FreeAddr() // for votes: without a majority it serves no client
			peer := redisproc.FreeAddr()
			_, peerPort := redisproc.HostAndPort(peer)
			_, votesPort := redisproc.HostAndPort(listens)
			known := fmt.Sprintf("192.0.2.%d:", number)
			s.Peers, s.Greets = map[string]string{known + peerPort: peer, known + votesPort: listens}, proxy.SOCKS4
			ensemble = append(ensemble, fmt.Sprintf("server.%d=%s%s:%s", number, known, peerPort, votesPort))
		}
		s.ready = redisproc.Accepts(listens)
		s.command = func() (*exec.Cmd, error) {
			host, port := redisproc.HostAndPort(s.Addr)
			config := append([]string{
				"dataDir=" + s.dir, "clientPortAddress=" + host, "clientPort=" + port, "quorumListenOnAllIPs=true",
				fmt.Sprintf("tickTime=%d", tick.Milliseconds()/int64(c.Speed)), "syncLimit=10", "initLimit=50",
				"minSessionTimeout=100", "maxSessionTimeout=3600000", "maxClientCnxns=0",
				"admin.enableServer=false", "4lw.commands.whitelist=srvr",
			}, ensemble...)
			file, args := filepath.Join(s.dir, "zoo.cfg"), args
			if s.Tunnel != "" {
				host, port := redisproc.HostAndPort(s.Tunnel)
				args = append(args[:len(args):len(args)], "-DsocksProxyHost="+host, "-DsocksProxyPort="+port, "-DsocksProxyVersion=4")
			}
			return exec.Command("java", append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)...),
				os.WriteFile(file, []byte(strings.Join(config, "\n")+"\n"), 0o600)
		}
	}
	return nil
}

// leadZooKeeper returns when the first of the members of a running ensemble leads it. That has the highest number, and is
// elected unless it was heard too late. Who was elected then is started again.
func leadZooKeeper(ctx context.Context, members []*Server) error {
	for {
		leader, err := leaderOf(ctx, members)
		if err != nil || leader == members[0] {
			return err
		}
		if err := leader.Stop(faults.Killed); err != nil {
			return err
		}
		if err := leader.Start(ctx); err != nil {
			return err
		}
	}
}

// leaderOf is the member of a running ensemble that leads it, when all others follow.
func leaderOf(ctx context.Context, members []*Server) (leader *Server, err error) {
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
