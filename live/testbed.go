//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// testbed is what a scenario runs on: servers, client processes, the links between them, and the field that injects faults.
type testbed struct {
	*loop
	command []string // starts a client process
	dir     string
	work    *workDir // which dir is the path of

	servers []*server
	proxies []*proxy
	clients []*clientProcess
	gone    []*clientProcess // that were killed and replaced

	entries  []entry
	observer func(entry) // is told of every entry, if not nil
	field    *faults.Field
	byWall   map[string][]*wallWait // by the node
	groups   []*group               // of masters with their replicas
}

// newTestbed makes an empty testbed, with a directory for its files. It must be closed.
func newTestbed(speed int, command []string) (*testbed, error) {
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
	r := &testbed{loop: newLoop(speed), command: command, dir: dir.path, work: dir, byWall: map[string][]*wallWait{}}
	r.field = faults.NewField(ground{r})
	return r, nil
}

// addServers starts a server for each node, with the library that changes clocks and notes fsyncs if they need it.
func (r *testbed) addServers(ctx context.Context, names []string, persistence redis.Persistence, needsPreload bool) error {
	preload := ""
	if needsPreload {
		var err error
		if preload, err = faketime.Build(r.dir); err != nil {
			return err
		}
	}
	for _, name := range names {
		dir := filepath.Join(r.dir, fmt.Sprintf("node-%d", len(r.servers)))
		x := &server{name: name, dir: dir, persistence: persistence, preload: preload}
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
func (r *testbed) link(client, node, upstream string) (addr string, err error) {
	p, err := newProxy(client, node, upstream)
	if err != nil {
		return "", err
	}
	r.proxies = append(r.proxies, p)
	return p.addr, nil
}

// proxy is the link from a client to a node, or from a replica to a master.
func (r *testbed) proxy(client, node string) *proxy {
	for _, p := range r.proxies {
		if p.client == client && p.node == node {
			return p
		}
	}
	return nil
}

// ready waits until a client has begun.
func (r *testbed) ready(ctx context.Context, c *clientProcess) error {
	select {
	case err := <-c.ready:
		return err
	case <-time.After(redisproc.Patience):
		return fmt.Errorf("live: %s did not begin within %v", c.name, redisproc.Patience)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// happened takes an event down.
func (r *testbed) happened(at int64, e history.Event) {
	r.take(entry{at: at, process: e.Process, event: &e})
}

// take takes an entry of the record down.
func (r *testbed) take(e entry) {
	r.entries = append(r.entries, e)
	if r.observer != nil {
		r.observer(e)
	}
}

func (r *testbed) client(name string) *clientProcess {
	for _, c := range r.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (r *testbed) server(name string) *server {
	for _, s := range r.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// close ends whatever has been started and removes the files.
func (r *testbed) close() error {
	close(r.over)
	r.stalls.Stop()
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
