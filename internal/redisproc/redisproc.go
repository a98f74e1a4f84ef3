//go:build unix

// Package redisproc starts server processes on loopback ports, and asks redis-servers single questions.
package redisproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlocksim/internal/child"
)

// Patience is how long a process that was started, or told to end, may take. It is generous: the machine may be busy.
const Patience = 20 * time.Second

// Start starts a server, and returns when it is ready, as Await does. The error has what it wrote.
func Start(ctx context.Context, cmd *exec.Cmd, ready func(*child.Process) (bool, error)) (*child.Process, error) {
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	if err := Await(ctx, p, func() (bool, error) { return ready(p) }); err != nil {
		p.Kill()
		return nil, fmt.Errorf("%w\n%s", err, p.Output())
	}
	return p, nil
}

// RedisServer is a redis-server at an address and in a directory, without persistence unless the arguments say otherwise. env
// is added to the environment.
func RedisServer(program, addr, dir string, env []string, args ...string) *exec.Cmd {
	host, port := HostAndPort(addr)
	cmd := exec.Command(program, "--bind", host, "--port", port, "--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no")
	cmd.Args, cmd.Env = append(cmd.Args, args...), append(os.Environ(), env...)
	return cmd
}

// Answers says whether a process is the redis-server that answers at an address, with its data loaded. The error, if it says
// yes, is that another one does.
func Answers(addr string) func(*child.Process) (bool, error) {
	return func(p *child.Process) (bool, error) {
		info, err := Ask(addr, "INFO", "server")
		if err == nil && !strings.Contains(info, fmt.Sprintf("\r\nprocess_id:%d\r\n", p.PID())) {
			return true, errors.New("another process answers there")
		}
		if err == nil { // unlike INFO, this is answered only when the data is loaded
			_, err = Ask(addr, "PING")
		}
		return err == nil, err
	}
}

// Accepts says whether somebody accepts connections at an address.
func Accepts(addr string) func(*child.Process) (bool, error) {
	return func(*child.Process) (bool, error) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			Reset(c)
		}
		return err == nil, err
	}
}

// Await looks again and again until look says that a process which was started is ready, with an error if it can never be. It
// gives up when the process has exited, after Patience, or when ctx ends; the last error of look says why.
func Await(ctx context.Context, p *child.Process, look func() (ready bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		ready, err := look()
		if ready {
			return err
		}
		select {
		case <-p.Exited():
			return errors.New("the process exited")
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", errors.Join(err, context.Cause(ctx)))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// HostAndPort are those of an address that FreeAddr made.
func HostAndPort(addr string) (host, port string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		panic(err)
	}
	return host, port
}

// Ports between these are free for servers: the system gives none of them to connections, as it does with those that it chooses
// itself.
const firstPort, lastPort = 10000, 32767

var (
	ports    atomic.Uint32 // that this process has taken so far
	reserved sync.Map      // their UDP ports, which this process keeps until it ends
)

// FreeAddr is an address on loopback at which nobody listens. No process is given it again, also while its server is down, when
// clients would take somebody else's server for it: the UDP port of the same number, which no server uses, is kept bound.
func FreeAddr() string {
	for {
		n := ports.Add(1) + uint32(os.Getpid())*997
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+n%(lastPort-firstPort+1))
		udp, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		if taken, _ := Accepts(addr)(nil); !taken {
			reserved.Store(addr, udp)
			return addr
		}
		_ = udp.Close()
	}
}
