//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/internal/undisturbed"
	"redlocksim/sim"
)

// stage is what is played on: servers, client processes and the links between them, and the field on which faults are injected into them.
// Everything on it happens on one goroutine, that of until, one thing after the other.
type stage struct {
	speed   int64    // how many times as fast as the times that are given
	command []string // starts a client process
	dir     string
	work    *workDir // which dir is the path of

	servers []*server
	proxies []*proxy
	clients []*player
	gone    []*player // that were killed and replaced

	queue chan func()
	over  chan struct{} // closed when nothing more happens
	pulse *undisturbed.Pulse

	entries []entry
	witness func(entry) // is told of every entry; nil: nobody is
	agenda  []*moment   // what is to come, in the order in which it will
	field   *faults.Field
	byWall  map[string][]*wallWait // by the node
	groups  []*group               // of masters with their replicas
	failed  error
}

// moment is something that is to happen when CLOCK_MONOTONIC reads at.
type moment struct {
	at int64
	do func()
}

// newStage makes an empty stage, with a directory for its files. It must be closed.
func newStage(speed int, command []string) (*stage, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrNoServer
	}
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{self, "live-client"}
	}
	dir, err := newWorkDir(os.TempDir())
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	r := &stage{speed: int64(speed), command: command, dir: dir.path, work: dir, queue: make(chan func()), over: over, pulse: undisturbed.Begin(),
		byWall: map[string][]*wallWait{}}
	r.field = faults.NewField(ground{r})
	return r, nil
}

// addServers starts a server for each node, with the library that changes clocks and notes fsyncs if they need it.
func (r *stage) addServers(ctx context.Context, names []string, persistence sim.Persistence, needsPreload bool) error {
	preload := ""
	if needsPreload {
		var err error
		if preload, err = faketime.Build(r.dir); err != nil {
			return err
		}
	}
	for _, name := range names {
		x := &server{name: name, dir: filepath.Join(r.dir, fmt.Sprintf("node-%d", len(r.servers))), persistence: persistence, preload: preload}
		if err := os.Mkdir(x.dir, 0o700); err != nil {
			return err
		}
		var err error
		if x.clocks, err = faketime.New(x.dir + ".clocks"); err != nil {
			return err
		}
		r.servers = append(r.servers, x)
		if err := x.launch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// link makes the link from a client to a node, and returns its address.
func (r *stage) link(client, node, upstream string) (addr string, err error) {
	p, err := newProxy(client, node, upstream)
	if err != nil {
		return "", err
	}
	r.proxies = append(r.proxies, p)
	return p.addr, nil
}

// proxy is the link from a client to a node, or from a replica to a master.
func (r *stage) proxy(client, node string) *proxy {
	for _, p := range r.proxies {
		if p.client == client && p.node == node {
			return p
		}
	}
	return nil
}

// ready waits until a client has begun.
func (r *stage) ready(ctx context.Context, c *player) error {
	select {
	case err := <-c.ready:
		return err
	case <-time.After(redisproc.Patience):
		return fmt.Errorf("live: %s did not begin within %v", c.name, redisproc.Patience)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until has what is on the agenda and in the queue happen, until CLOCK_MONOTONIC reads end or isOver, which is looked at
// after everything that happens.
func (r *stage) until(ctx context.Context, end int64, isOver func() bool) error {
	for free := faketime.MachineTime(); ; free = faketime.MachineTime() {
		if r.failed != nil {
			return r.failed
		}
		if isOver() {
			return nil
		}
		next := end
		if len(r.agenda) > 0 {
			next = min(next, r.agenda[0].at)
		}
		select {
		case f := <-r.queue:
			f()
		case <-time.After(time.Duration(next - faketime.MachineTime())):
			if next == end {
				return nil
			}
			next := r.agenda[0]
			r.agenda = r.agenda[1:]
			began := faketime.MachineTime()
			next.do()
			noteStep(r.pulse, next.at, free, began, faketime.MachineTime())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// post has f happen.
func (r *stage) post(f func()) {
	select {
	case r.queue <- f:
	case <-r.over:
	}
}

// call has f happen, and returns when it has.
func (r *stage) call(f func()) {
	done := make(chan struct{})
	r.post(func() { f(); close(done) })
	select {
	case <-done:
	case <-r.over:
	}
}

// after has f happen a while after a moment; behind what is to happen at the same time.
func (r *stage) after(at int64, d time.Duration, f func()) { r.when(at+int64(d)/r.speed, f) }

// when has f happen when CLOCK_MONOTONIC reads at.
func (r *stage) when(at int64, f func()) *moment {
	m := &moment{at, f}
	i, _ := slices.BinarySearchFunc(r.agenda, at, func(m *moment, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	r.agenda = slices.Insert(r.agenda, i, m)
	return m
}

// drop has a moment not come; it may have come already.
func (r *stage) drop(m *moment) {
	r.agenda = slices.DeleteFunc(r.agenda, func(x *moment) bool { return x == m })
}

// happened takes an event down.
func (r *stage) happened(at int64, e history.Event) {
	r.take(entry{at: at, process: e.Process, event: &e})
}

// take takes an entry of the record down.
func (r *stage) take(e entry) {
	r.entries = append(r.entries, e)
	if r.witness != nil {
		r.witness(e)
	}
}

func (r *stage) client(name string) *player {
	for _, c := range r.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (r *stage) server(name string) *server {
	for _, s := range r.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// close ends whatever has been started and removes the files.
func (r *stage) close() error {
	close(r.over)
	r.pulse.End()
	var errs []error
	for _, c := range append(r.gone, r.clients...) {
		if c != nil {
			c.close()
		}
	}
	for _, p := range r.proxies {
		p.close()
	}
	for _, s := range r.servers {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, r.work.remove())...)
}
