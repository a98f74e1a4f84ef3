//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// condition is what is wrong with one server, the victim, while a cell is measured.
type condition struct {
	name  string
	what  string // for the page
	toxic string // what a Toxiproxy between the contestant and the victim is told, as JSON; empty if nothing is wrong
}

// slowBy is how much later the replies of a slow server come.
const slowBy = 50 * time.Millisecond

const throughProxy = " Contestants reach that server through a Toxiproxy that runs in the same process. Its allocations cannot be told from theirs, so these columns are missing here."

var conditions = []condition{
	{
		name: "healthy",
		what: "All servers answer.",
	},
	{
		name: "one server silent",
		what: "One of the five servers goes silent once the contestant has its connections. They stay open, new ones are accepted, and no request reaches the server or is ever answered." +
			throughProxy,
		toxic: `{"name": "silent", "type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`,
	},
	{
		name:  "one server slow",
		what:  "Every reply of one of the five servers is " + slowBy.String() + " late." + throughProxy,
		toxic: fmt.Sprintf(`{"name": "slow", "type": "latency", "stream": "downstream", "attributes": {"latency": %d}}`, slowBy.Milliseconds()),
	},
}

// isHealthy: a library for a single server can take part, and what is counted on the servers and in the process is the
// contestant's alone.
func (c *condition) isHealthy() bool { return c.toxic == "" }

// victim is the server that the conditions affect: the one in the middle of the order in which a library might ask.
const victim = clusterSize / 2

// stage is the servers as contestants reach them in a condition.
type stage struct {
	addrs     []string
	condition *condition
	proxy     *toxiproxy.Proxy // nil in the healthy condition
}

// stage sets the condition up; it begins with inject, and ends with close.
func (c *cluster) stage(in *condition) (*stage, error) {
	s := &stage{addrs: c.addrs(), condition: in}
	if in.isHealthy() {
		return s, nil
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	s.proxy = toxiproxy.NewProxy(server, in.name, "127.0.0.1:0", s.addrs[victim])
	if err := s.proxy.Start(); err != nil {
		return nil, fmt.Errorf("toxiproxy: %w", err)
	}
	s.addrs[victim] = s.proxy.Listen
	return s, nil
}

func (s *stage) inject() error {
	if s.proxy == nil {
		return nil
	}
	if _, err := s.proxy.Toxics.AddToxicJson(strings.NewReader(s.condition.toxic)); err != nil {
		return fmt.Errorf("toxiproxy: %w", err)
	}
	return nil
}

// close breaks the connections through the proxy.
func (s *stage) close() {
	if s.proxy != nil {
		s.proxy.Stop()
	}
}
