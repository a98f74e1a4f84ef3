package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Outage is what the faults that stop a Redis node share.
type Outage struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required" of:"node" budget:"restart-delay,memory-loss,counter-loss"`
	// RestartAfter is how long after it stopped the node starts again, in true time; 0s restarts it at once. Default: stays
	// down until a restart. Example: 1s
	RestartAfter *time.Duration `yaml:"restart-after" range:"0s.." size:"the delay of the restart,less"`
	// ByWallClock measures that time with the node's wall clock instead, which may be stepped meanwhile. Default: false.
	// Example: true
	ByWallClock bool `yaml:"by-wall-clock"`
}

// outage is a fault that stops a node.
type outage interface {
	Fault
	how() Stop
}

// goesDown injects it.
func (f *Field) goesDown(x outage) error {
	o, length := Part[Outage](x), time.Duration(0)
	if o.RestartAfter != nil {
		length = *o.RestartAfter
	}
	return f.stop(x, length, o, x.how())
}

// Kill ends the process of a node, as kill −9 does. It loses what it had not handed to the operating system.
type Kill struct {
	Outage `yaml:",inline"`
}

func (k *Kill) String() string { return k.Node + " is killed" }
func (k *Kill) how() Stop      { return Killed }

// Inject implements Fault.
func (k *Kill) Inject(f *Field) error { return f.goesDown(k) }

// PowerLoss turns a node's machine off. It loses what was not fsynced, and clients get no answer, not even a refusal.
type PowerLoss struct {
	Outage `yaml:",inline" budget:"no-power-loss"`
}

func (p *PowerLoss) String() string { return p.Node + " loses power" }
func (p *PowerLoss) how() Stop      { return PoweredOff }

func (p *PowerLoss) drawn(_ Choices, l *Limits) bool { return !l.Budget.NoPowerLoss || l.Beyond }

// Inject implements Fault.
func (p *PowerLoss) Inject(f *Field) error {
	err := f.goesDown(p)
	if err == nil {
		f.uses(f.ground.Now(), func(u *Used) { u.Unpowered = append(u.Unpowered, p.Node) })
	}
	return err
}

// Shutdown stops a node cleanly, after it has written what it persists.
type Shutdown struct {
	Outage `yaml:",inline"`
}

func (s *Shutdown) String() string { return s.Node + " is shut down" }
func (s *Shutdown) how() Stop      { return ShutDown }

// Inject implements Fault.
func (s *Shutdown) Inject(f *Field) error { return f.goesDown(s) }

// Restart starts a node that is down, with what is on its disk.
type Restart struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required" of:"node" budget:"restart-delay,memory-loss,counter-loss"`
}

func (r *Restart) String() string { return r.Node + " restarts" }

// Whenever the node went down: no budget can be kept.
func (r *Restart) drawn(_ Choices, l *Limits) bool { return l.Beyond }

// Inject implements Fault.
func (r *Restart) Inject(f *Field) error { return f.restart(r.Node) }

// Promote makes a replica a master in place of its node, as Sentinel or an operator does. Clients that learn of it send the
// replica what they address to the node. The node is not told: if it is up, it goes on as a master for those who still ask
// it. Promoted again, the replica stays what it is, and more clients learn of it.
type Promote struct {
	// Node is the master that is replaced. Example: A
	Node string `yaml:"node,required" of:"node" budget:"restart-delay,memory-loss,counter-loss"`
	// Replica is the replica that replaces it. Example: A2
	Replica string `yaml:"replica,required"`
	// Clients are the clients that learn of it now. Default: all clients. Example: [client-2]
	Clients []string `yaml:"clients"`
}

func (p *Promote) String() string { return p.Replica + ", the replica of " + p.Node + ", is promoted" }

func (p *Promote) refuses(n Names) []Problem {
	return append(n.amongReplicas(p.Node, p.Replica), (&Links{Clients: p.Clients}).check(Names{Clients: n.Clients})...)
}

// amongReplicas is what is wrong with the replica of a node that there is.
func (n Names) amongReplicas(node, replica string) []Problem {
	if !slices.Contains(n.Nodes, node) {
		return nil
	}
	return among("replica", replica, n.Replicas[node], "replica of "+node)
}

func (p *Promote) drawn(c Choices, l *Limits) bool {
	masters := l.masters()
	if !l.promotes() || masters == nil {
		return false
	}
	p.Node = OneOf(c.For("node", 0), masters...)
	p.Replica = OneOf(c.For("replica", 0), l.Names.Replicas[p.Node]...)
	p.Clients = some(c.For("told", 0), l.Names.Clients)
	return true
}

// Inject implements Fault. A replica that does not know all that its master knew is a node that lost memory. So is one whose
// master is up, or may be asked by others once it is: what is asked of either the other never learns. A node that was replaced
// before is not the one that is followed now, and counts as up.
func (p *Promote) Inject(f *Field) error {
	node, clients := f.of(p.Node), p.Clients
	if len(clients) == 0 {
		clients = f.ground.Clients()
	}
	learn := slices.DeleteFunc(slices.Clone(clients), func(c string) bool { return node.leads[c] == p.Replica })
	if !f.ground.IsReplica(p.Replica) && len(learn) > 0 {
		f.lead(p, learn)
		f.note("promote", p.Replica, 0, "%s that %s has replaced %s", all(learn, "learn"), p.Replica, p.Node)
		return nil
	}
	lacks, err := f.ground.Promote(p.Node, p.Replica)
	if err != nil {
		return err
	}
	f.lead(p, learn)
	who := "all clients talk"
	if len(p.Clients) > 0 {
		who = all(p.Clients, "talk")
	}
	forks := f.ground.Up(p.Node) || node.replaced || len(clients) < len(f.ground.Clients())
	node.replaced = true
	with := "all that " + p.Node + " knew"
	if lacks.Any {
		with = "less than " + p.Node + " knew"
	}
	if lacks.Any || forks {
		l := Loss{Node: p.Node, By: Replaced, Counters: lacks.Counters || forks && f.Fenced}
		if !forks {
			l.By, l.After = TakenOver, f.ground.Now().Sub(node.stopped)
		}
		f.lost(l)
	}
	f.note("promote", p.Replica, 0, "%v with %s; %s to it now", p, with, who)
	return nil
}

// lead has clients send the replica what they address to the node.
func (f *Field) lead(p *Promote, clients []string) {
	f.ground.Lead(clients, p.Node, p.Replica)
	for _, c := range clients {
		f.of(p.Node).leads[c] = p.Replica
	}
}

// all is what some do, in the plural if they are several.
func all(who []string, do string) string {
	if len(who) == 1 {
		do += "s"
	}
	return strings.Join(who, ", ") + " " + do
}

// Failover is what Sentinel or an operator does when a node dies: its process is killed, and after a time a replica takes its
// place for all clients. A node that starts again follows that replica.
type Failover struct {
	// Node is the master that dies. Example: A
	Node string `yaml:"node,required" of:"node" budget:"restart-delay,memory-loss,counter-loss"`
	// Replica is the replica that replaces it. Example: A2
	Replica string `yaml:"replica,required"`
	// After is how long the node is down before it is replaced. Default: 0s. Example: 2s
	After time.Duration `yaml:"after" range:"0s.." size:"the delay of the failover,less"`
	// RestartAfter is how long after it died the node starts again, which must be after it was replaced. Default: stays down.
	// Example: 5s
	RestartAfter *time.Duration `yaml:"restart-after" range:"0s.."`
}

func (x *Failover) String() string {
	return fmt.Sprintf("%s dies, and %s, its replica, takes over after %v", x.Node, x.Replica, x.After)
}

func (x *Failover) refuses(n Names) []Problem {
	problems := n.amongReplicas(x.Node, x.Replica)
	if x.RestartAfter != nil && *x.RestartAfter <= x.After {
		problems = append(problems, Problem{Field: "restart-after", Text: "must be longer than after: until then nobody has taken over"})
	}
	return problems
}

func (x *Failover) drawn(c Choices, l *Limits) bool {
	least, comesBack := l.Budget.Away(l.Fenced)
	if l.Beyond {
		least = 0
	} else if !comesBack {
		return false
	}
	x.Node = OneOf(c.For("node", 0), l.masters()...)
	x.Replica = OneOf(c.For("replica", 0), l.Names.Replicas[x.Node]...)
	x.After = l.Times.Length(c.For("after", 0), least, least+l.Scale)
	if c.For("for good", 0).Below(2) == 0 {
		again := x.After + l.Times.Length(c.For("restart", 0), minOutage, l.Scale)
		x.RestartAfter = &again
	}
	return true
}

// follow has the restart stay behind the failover.
func (x *Failover) follow(by time.Duration) {
	if x.RestartAfter != nil {
		again := *x.RestartAfter + by
		x.RestartAfter = &again
	}
}

// Inject implements Fault. A replica that cannot take over when the time has come, as it is down, never does, nor once the
// faults are healed.
func (x *Failover) Inject(f *Field) error {
	if err := f.stop(x, x.After, &Outage{Node: x.Node, RestartAfter: x.RestartAfter}, Killed); err != nil {
		return err
	}
	f.after(x.After, func() {
		err := errHealed
		if !f.isHealed {
			err = (&Promote{Node: x.Node, Replica: x.Replica}).Inject(f)
		}
		if err != nil {
			f.Undone = append(f.Undone, Undone{x, fmt.Errorf("%s does not take over from %s: %w", x.Replica, x.Node, err)})
		}
	})
	return nil
}

// Simpler implements Simplified: the node dies, which is all that comes of it if the replica is down.
func (x *Failover) Simpler() (Fault, string) {
	return &Kill{Outage{Node: x.Node, RestartAfter: x.RestartAfter}}, "kill"
}
