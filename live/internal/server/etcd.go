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
	"time"

	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
)

// newEtcd makes the members of an etcd cluster. Their election timeout is the default one second divided by the speed.
//
// The members have addresses of which none exists, from a range for documentation, so that each connects to its peers through
// the HTTP proxy that it is given: Go programs connect to loopback addresses without one.
func newEtcd(all []*Server, c Config) {
	var cluster []string
	heartbeat := max(100/c.Speed, 10)
	for i, s := range all {
		known, peer := fmt.Sprintf("192.0.2.%d:2380", i+1), redisproc.FreeAddr()
		s.Peers, s.Greets = map[string]string{known: peer}, proxy.HTTP
		cluster = append(cluster, fmt.Sprintf("%s=https://%s", s.Name, known))
		s.ready = redisproc.Accepts(peer) // without a majority it answers no client
		s.command = func() (*exec.Cmd, error) {
			cmd := exec.Command("etcd", "--name", s.Name, "--data-dir", s.dir, "--log-level", "error",
				"--listen-client-urls", "http://"+s.Addr, "--advertise-client-urls", "http://"+s.Addr,
				"--listen-peer-urls", "https://"+peer, "--initial-advertise-peer-urls", "https://"+known,
				"--initial-cluster", strings.Join(cluster, ","), "--peer-auto-tls",
				"--heartbeat-interval", fmt.Sprint(heartbeat), "--election-timeout", fmt.Sprint(10*heartbeat))
			cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://"+s.Tunnel, "NO_PROXY=", "no_proxy=")
			return cmd, nil
		}
	}
}

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

// leadEtcd makes the first of the members of a running cluster its leader, and returns when all know it.
func leadEtcd(ctx context.Context, members []*Server) error {
	return redisproc.Await(ctx, members[0].process, func() (bool, error) {
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
