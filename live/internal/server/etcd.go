//go:build linux

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// etcd is a member of an etcd cluster.
//
// The members have addresses of which none exists, from a range for documentation, so that each connects to its peers through
// the HTTP proxy that it is given: Go programs connect to loopback addresses without one.
type etcd struct {
	number  int // among the members, from 1
	members []string
	speed   int
}

// PeerAddr is the address at which a member finds the member of that number, from 1, through its tunnel.
func PeerAddr(number int) string { return fmt.Sprintf("192.0.2.%d:2380", number) }

// NewEtcd makes the directory of a member of a cluster that is to be started. It connects to its peers
// through the tunnel at that address. Its election timeout is the default one second divided by speed.
func NewEtcd(name, dir string, number int, members []string, speed int) (*Server, error) {
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	return &Server{Name: name, Kind: Etcd, Addr: redisproc.FreeAddr(), Peer: redisproc.FreeAddr(), dir: dir, Clocks: clocks,
		software: &etcd{number: number, members: members, speed: speed}}, nil
}

// start returns when the member listens to its peers: without a majority it answers no client.
func (e *etcd) start(ctx context.Context, s *Server) (*child.Process, error) {
	var cluster []string
	for i, name := range e.members {
		cluster = append(cluster, fmt.Sprintf("%s=https://%s", name, PeerAddr(i+1)))
	}
	heartbeat := max(100/e.speed, 10)
	cmd := exec.Command("etcd", "--name", s.Name, "--data-dir", s.dir, "--log-level", "error",
		"--listen-client-urls", "http://"+s.Addr, "--advertise-client-urls", "http://"+s.Addr,
		"--listen-peer-urls", "https://"+s.Peer, "--initial-advertise-peer-urls", "https://"+PeerAddr(e.number),
		"--initial-cluster", strings.Join(cluster, ","), "--peer-auto-tls",
		"--heartbeat-interval", fmt.Sprint(heartbeat), "--election-timeout", fmt.Sprint(10*heartbeat))
	cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://"+s.Tunnel, "NO_PROXY=", "no_proxy=")
	p, err := child.Start(child.InOwnGroup(cmd))
	if err != nil {
		return nil, err
	}
	if err := redisproc.AwaitPort(ctx, p, s.Peer); err != nil {
		p.Kill()
		return nil, fmt.Errorf("etcd at %s: %w\n%s", s.Addr, err, p.Output())
	}
	return p, nil
}

func (*etcd) shutdown() syscall.Signal { return syscall.SIGTERM }

// dump has nothing: what etcd has answered, nothing takes from it.
func (*etcd) dump(*Server) ([]redis.Record, error) { return nil, nil }

// killed has nothing to do: what etcd has answered is fsynced.
func (*etcd) killed(*Server, bool) error { return nil }

// status is what a member says of itself.
type status struct {
	Header struct {
		Member string `json:"member_id"`
	} `json:"header"`
	Leader string `json:"leader"`
}

// call calls a method of the member's HTTP interface.
func (s *Server) call(ctx context.Context, method, request string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.Addr+"/v3/"+method, bytes.NewBufferString(request))
	if err != nil {
		return err
	}
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("live: %s: %s was answered with %s", s.Name, method, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// Lead makes the first of the members of a running cluster its leader, and returns when all know it.
func Lead(ctx context.Context, members []*Server) error {
	first := members[0]
	return redisproc.Await(ctx, first.process, func() (bool, error) {
		all := make([]status, len(members))
		for i, s := range members {
			select {
			case <-s.process.Exited():
				return true, fmt.Errorf("live: %s has exited: %s\n%s", s.Name, s.process.Status(), s.process.Output())
			default:
			}
			if err := s.call(ctx, "maintenance/status", "{}", &all[i]); err != nil {
				return false, err
			}
		}
		wanted := all[0].Header.Member
		agreed := true
		for i, s := range members {
			agreed = agreed && all[i].Leader == wanted
			if all[i].Leader == all[i].Header.Member && all[i].Leader != wanted {
				var none struct{}
				if err := s.call(ctx, "maintenance/transfer-leadership", fmt.Sprintf(`{"targetID":%q}`, wanted), &none); err != nil {
					return false, err
				}
			}
		}
		if !agreed {
			return false, errors.New("the first member does not lead")
		}
		return true, nil
	})
}
