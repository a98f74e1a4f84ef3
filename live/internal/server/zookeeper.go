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
// A member connects to each other where its own configuration says, which is a link. It also tells the others where it takes
// part in elections, for them to call back: that is an address to which nothing can connect, of multicast, so that nobody goes
// around a link.
type zookeeper struct {
	programs string // their directory
	number   int    // among the members, from 1
	of       int    // how many there are
	speed    int
	peers    []string // the entries of the others
}

// NewZooKeeper makes the directory of a member of an ensemble that is to be started, and reserves its ports. Members elect the
// one with the highest number, all else being equal: number counts down from of.
func NewZooKeeper(name, dir string, number, of, speed int) (*Server, error) {
	programs, err := ZooKeeper.Programs()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "myid"), fmt.Appendf(nil, "%d\n", number), 0o600); err != nil {
		return nil, err
	}
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	s := &Server{Name: name, Kind: ZooKeeper, dir: dir, Clocks: clocks, software: &zookeeper{programs: programs, number: number, of: of, speed: speed}}
	ports := []*string{&s.Addr}
	if of > 1 {
		ports = append(ports, &s.Peer, &s.Votes)
	}
	if err := s.reserve(ports...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// FindsAt has a member of an ensemble find another one at these addresses: for what the leader says, and for elections.
func (s *Server) FindsAt(other *Server, peer, votes string) error {
	host, first, err := net.SplitHostPort(peer)
	if err != nil {
		return err
	}
	_, second, err := net.SplitHostPort(votes)
	z := s.software.(*zookeeper)
	z.peers = append(z.peers, fmt.Sprintf("server.%d=%s:%s:%s", other.software.(*zookeeper).number, host, first, second))
	return err
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
	if z.of > 1 {
		_, peer, err := net.SplitHostPort(s.Peer)
		if err != nil {
			return "", err
		}
		_, votes, err := net.SplitHostPort(s.Votes)
		if err != nil {
			return "", err
		}
		lines = append(append(lines, z.peers...), "quorumListenOnAllIPs=true", fmt.Sprintf("server.%d=233.252.0.%[1]d:%s:%s", z.number, peer, votes))
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
	cmd := exec.Command("java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.preAllocSize=64",
		// Who is called in vain calls again soon, as the members start one after the other.
		"-Dzookeeper.fastleader.maxNotificationInterval=400",
		// Debian has the libraries in one directory, the Apache Software Foundation beside the programs.
		"-cp", "/usr/share/java/zookeeper.jar:"+filepath.Join(z.programs, "..", "lib", "*"),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
	s.releasePorts()
	p, err := child.Start(child.InOwnGroup(cmd))
	if err != nil {
		return nil, err
	}
	listens := s.Addr
	if z.of > 1 {
		listens = s.Votes
	}
	if err := redisproc.Await(ctx, p, func() (bool, error) {
		c, err := net.Dial("tcp", listens)
		if err == nil {
			redisproc.Reset(c)
		}
		return err == nil, err
	}); err != nil {
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
