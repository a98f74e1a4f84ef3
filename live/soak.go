//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// Soak has many clients take locks on redis-servers while servers, clients and the network fail at random, as far as the
// settings allow, and judges what they were told. It goes in rounds: after each the faults end, every lock must be takeable
// within TakeableWithin, the nodes must be left without any lock's key, and the history of the round is checked. At the end
// client processes close what they have, and there must be no goroutine and no connection left.
//
// It returns early, with an error that matches ctx's, when ctx ends; Stop ends it in order. Whatever happens, no process and
// no file is left. The error matches ErrSoak, ErrNoServer or ErrNoCompiler for what cannot be soaked, and is an internal
// one otherwise.
func Soak(ctx context.Context, o SoakOptions) (result *Soaked, err error) {
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	on, err := newStage(1, o.Client)
	if err != nil {
		return nil, err
	}
	s := &soak{stage: on, SoakOptions: o, lives: make([]int, o.Processes),
		result: &Soaked{Options: o, Takeable: Bounded{Within: TakeableWithin(o.Settings)}, Cleared: Bounded{Within: votesEnd(o.Settings)}}}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.setUp(ctx); err != nil {
		return nil, err
	}
	for left := o.Duration; left > 0 && !s.isStopped(); left -= o.Round {
		if err := s.round(ctx, min(o.Round, left)); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(s.result)
		}
	}
	if err := s.leave(ctx); err != nil {
		return nil, err
	}
	s.result.finish()
	return s.result, nil
}

// soak is a soak under way.
type soak struct {
	*stage
	SoakOptions
	roles  []*crewRole
	lives  []int // how many processes have had each role
	random *rand.Rand
	start  int64 // CLOCK_MONOTONIC at the beginning of the round
	rounds int
	result *Soaked
}

func (s *soak) isStopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// setUp starts everything.
func (s *soak) setUp(ctx context.Context) error {
	settings, err := asScenario(s.Settings)
	if err != nil {
		return err
	}
	if err := s.addServers(ctx, s.Settings.Nodes.Names, s.Settings.Nodes.Persistence.Persistence, slices.Contains(s.Faults, PowerLoss)); err != nil {
		return err
	}
	var locks []string
	for i := range s.Locks {
		locks = append(locks, fmt.Sprintf("lock-%d", i+1))
	}
	for i := range s.Processes {
		r := &crewRole{Name: fmt.Sprintf("P%d", i+1), Clients: s.Clients / s.Processes, Goroutines: s.Goroutines, Locks: locks, Settings: settings, Seed: s.Seed}
		if i < s.Clients%s.Processes {
			r.Clients++
		}
		for _, x := range s.servers {
			addr, err := s.link(r.Name, x.name, x.addr)
			if err != nil {
				return err
			}
			r.Nodes = append(r.Nodes, addr)
		}
		s.roles = append(s.roles, r)
		s.clients = append(s.clients, nil)
		if i == 0 {
			s.start = faketime.MachineTime()
		}
		if err := s.enter(i); err != nil {
			return err
		}
		if err := s.ready(ctx, s.clients[i]); err != nil {
			return err
		}
	}
	return nil
}

// enter starts a process for a role; it is another one each time, with clients of other names.
func (s *soak) enter(i int) error {
	s.lives[i]++
	r := *s.roles[i]
	r.Index = s.lives[i]*s.Processes + i
	r.Name = crewName(r.Name, s.lives[i])
	c, err := s.newPlayer(s.roles[i].Name, order{Crew: &r})
	if err != nil {
		return err
	}
	s.clients[i] = c
	return nil
}

func crewName(role string, life int) string {
	if life == 1 {
		return role
	}
	return fmt.Sprintf("%s.%d", role, life)
}

// workers are the names under which a process takes locks: those of its clients, or of their goroutines where each has
// several, those of one client together. name is that of the process.
func (r *crewRole) workers(name string) []string {
	var names []string
	for i := range r.Clients {
		client := fmt.Sprintf("%s-%d", name, i+1)
		if r.Goroutines == 1 {
			names = append(names, client)
			continue
		}
		for j := range r.Goroutines {
			names = append(names, fmt.Sprintf("%s/%d", client, j+1))
		}
	}
	return names
}

// round injects faults for a while, ends them, and looks at what came of it.
func (s *soak) round(ctx context.Context, length time.Duration) error {
	s.rounds++
	s.random = rand.New(rand.NewPCG(s.Seed, uint64(s.rounds)))
	s.field = faults.NewField(ground{s.stage})
	if s.rounds > 1 { // they begin by themselves
		s.start = faketime.MachineTime()
		s.tell(order{Work: true})
	}
	s.after(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.adversity)
	if err := s.until(ctx, faketime.MachineTime()+int64(length), s.isStopped); err != nil {
		return err
	}
	s.field.Heal()
	forever := faketime.MachineTime() + int64(time.Hour)
	// Servers that are to stay down for a while do, and clients that were killed are replaced.
	if err := s.until(ctx, forever, s.isWhole); err != nil {
		return err
	}
	ended := faketime.MachineTime()
	s.tell(order{Rest: true})
	within := s.result.Takeable.Within + machineAllowance // to see by how much it is missed
	for i := range s.Locks {
		c := s.clients[i%s.Processes]
		c.taking++
		c.send(order{Take: s.roles[0].Locks[i], Within: within})
	}
	if err := s.until(ctx, faketime.MachineTime()+int64(within+s.Settings.Lock.TTL+redisproc.Patience), s.isAtRest); err != nil {
		return err
	}
	if !s.isAtRest() {
		return errors.New("live: clients that were told to rest do not")
	}
	if err := s.clear(ctx); err != nil {
		return err
	}
	return s.judge(ended)
}

// tell gives all processes an order.
func (s *soak) tell(o order) {
	for _, c := range s.clients {
		c.rested = false
		c.send(o)
	}
}

// isWhole says that every server and every client is there.
func (s *soak) isWhole() bool {
	for _, x := range s.servers {
		if x.process == nil {
			return false
		}
	}
	for _, c := range s.clients {
		if c.process == nil {
			return false
		}
	}
	return true
}

func (s *soak) isAtRest() bool {
	for _, c := range s.clients {
		if !c.rested || c.taking > 0 {
			return false
		}
	}
	return true
}

// clear waits until no node has a lock's key any more.
func (s *soak) clear(ctx context.Context) error {
	begin := faketime.MachineTime()
	for {
		var left []string
		for _, x := range s.servers {
			known, err := x.dump()
			if err != nil {
				return err
			}
			eternal, passing := lockKeys(known)
			for _, key := range eternal {
				s.result.problem(scenarios.Liveness, "%s on %s has no time to live: nobody will ever remove it", key, x.name)
				if _, err := redisproc.Ask(x.addr, "DEL", key); err != nil {
					return err
				}
			}
			for _, key := range passing {
				left = append(left, key+" on "+x.name)
			}
		}
		took := time.Duration(faketime.MachineTime() - begin)
		switch {
		case len(left) == 0:
			s.result.Cleared.add(took)
			return nil
		case took > s.result.Cleared.Within:
			s.result.Cleared.add(took)
			s.result.problem(scenarios.Liveness, "%v after everybody was done there still is %s, expected none after %v", took, left[0], s.result.Cleared.Within)
			return nil
		}
		if err := s.until(ctx, faketime.MachineTime()+int64(10*time.Millisecond), func() bool { return false }); err != nil {
			return err
		}
	}
}

// lockKeys are the keys of locks among those that a node has: those that stay for ever, and the others, sorted.
func lockKeys(known []sim.Record) (eternal, passing []string) {
	for _, r := range known {
		switch {
		case !driver.IsLockKey(r.Key):
		case r.ExpiresAt == 0:
			eternal = append(eternal, r.Key)
		default:
			passing = append(passing, r.Key)
		}
	}
	slices.Sort(eternal)
	slices.Sort(passing)
	return eternal, passing
}

// judge checks the history of the round and adds up its figures.
func (s *soak) judge(ended int64) error {
	// The faults themselves must have kept to what the settings allow, or nothing follows from what they led to.
	if b := s.Settings.Budget; b.RestartDelay != nil && s.Settings.Lock.Guard == nil {
		if over := b.Beyond(faults.Used{Restarts: s.field.Used.Restarts}); over != nil {
			return fmt.Errorf("live: round %d: %s", s.rounds, strings.Join(over, "; "))
		}
	}
	end := time.Duration(faketime.MachineTime() - s.start)
	h := merge(s.entries, s.start, 1, end)
	s.entries = nil
	renumber(h)
	report, err := checker.Check(h, checker.Options{End: checker.Instant(end), Stopping: []string{}})
	if err != nil {
		return fmt.Errorf("live: round %d: %w", s.rounds, err)
	}
	s.result.add(s.rounds, h, &report, checker.Instant(ended-s.start))
	return nil
}

// renumber numbers the operations of a history from 1, in the order in which they were called.
func renumber(h history.History) {
	numbers := map[int]int{}
	number := func(op *int) {
		if *op != 0 {
			if numbers[*op] == 0 {
				numbers[*op] = len(numbers) + 1
			}
			*op = numbers[*op]
		}
	}
	for i := range h {
		number(&h[i].Op)
		number(&h[i].Grant)
	}
}

// leave has every client process close what it has, and looks for what is left: in the processes, which say so, and on
// the nodes, which count their connections.
func (s *soak) leave(ctx context.Context) error {
	s.tell(order{Leave: true})
	haveLeft := func() bool {
		return !slices.ContainsFunc(s.clients, func(c *player) bool { return c.left == nil })
	}
	if err := s.until(ctx, faketime.MachineTime()+int64(3*leaveTimeout), haveLeft); err != nil {
		return err
	}
	for _, c := range s.clients {
		switch l := c.left; {
		case l == nil:
			s.result.problem(scenarios.Liveness, "%s did not close what it has within %v", c.name, 3*leaveTimeout)
		case l.Goroutines > 0 || l.Connections > 0 || l.Stacks != "":
			s.result.problem(scenarios.Liveness, "%s has closed everything and has %d goroutines and %d connections left\n%s", c.name, l.Goroutines, l.Connections, l.Stacks)
		}
	}
	for _, x := range s.servers {
		connections := 0
		for deadline := time.Now().Add(leaveTimeout); ; time.Sleep(10 * time.Millisecond) {
			info, err := redisproc.Ask(x.addr, "INFO", "clients")
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(info, "connected_clients:")
			if _, err := fmt.Sscan(rest, &connections); err != nil {
				return fmt.Errorf("live: %s: INFO clients: %w", x.name, err)
			}
			// One is that of the question.
			if connections <= 1 || time.Now().After(deadline) {
				break
			}
		}
		if connections > 1 {
			s.result.problem(scenarios.Liveness, "%s has %d connections left after all clients have closed theirs", x.name, connections-1)
		}
	}
	return nil
}

// pauseBetweenFaults is how long after a fault the next one is injected at the most.
const pauseBetweenFaults = 500 * time.Millisecond

func (s *soak) upTo(d time.Duration) time.Duration {
	return time.Duration(s.random.Int64N(int64(d) + 1))
}

// adversity injects a fault, and sees to the next one.
func (s *soak) adversity() {
	if s.field.IsHealed() {
		return
	}
	s.after(faketime.MachineTime(), s.upTo(pauseBetweenFaults), s.adversity)
	if len(s.Faults) == 0 {
		return
	}
	ttl := s.Settings.Lock.TTL
	kind := s.Faults[s.random.IntN(len(s.Faults))]
	injected := false
	inject := func(f faults.Fault) {
		if f.Inject(s.field) == nil {
			injected = true
		}
	}
	process := s.roles[s.random.IntN(len(s.roles))].Name
	links := faults.Links{Clients: s.some(s.roleNames()), Nodes: s.some(s.Settings.Nodes.Names),
		Direction: faults.Direction{Direction: []sim.Direction{sim.Both, sim.Requests, sim.Replies}[s.random.IntN(3)]}}
	switch kind {
	case NodeKill, PowerLoss:
		for _, node := range s.some(s.Settings.Nodes.Names) {
			back := s.upTo(ttl / 2)
			if delay := s.Settings.Budget.RestartDelay; forgetting(s.Settings, kind) && s.Settings.Lock.Guard == nil {
				back = *delay + s.upTo(*delay/10)
			}
			o := faults.Outage{Node: node, RestartAfter: &back}
			if kind == NodeKill {
				inject(&faults.Kill{Outage: o})
			} else {
				inject(&faults.PowerLoss{Outage: o})
			}
		}
	case NodePause:
		for _, node := range s.some(s.Settings.Nodes.Names) {
			if !s.server(node).paused {
				inject(&faults.Pause{Process: node, For: 1 + s.upTo(3*ttl/2)})
			}
		}
	case Cut:
		inject(&faults.Partition{Links: links, For: 1 + s.upTo(ttl)})
	case Slow:
		inject(&faults.Delay{Links: links, By: 1 + s.upTo(2*s.Settings.Lock.NodeTimeout), For: 1 + s.upTo(ttl)})
	case Reset:
		inject(&faults.Reset{Links: links})
	case ClientPause:
		if !s.client(process).stopped {
			inject(&faults.Pause{Process: process, For: 1 + s.upTo(2*ttl)})
		}
	case ClientKill:
		injected = s.killClient(process)
	}
	if injected {
		s.result.injected(kind)
	}
}

// some draws names: one of them mostly, a second one in a quarter of all cases, and in the rest as many as there are.
func (s *soak) some(names []string) []string {
	n := 1
	switch p := s.random.IntN(20); {
	case p < 5:
		n = min(2, len(names))
	case p < 8:
		n = 1 + s.random.IntN(len(names))
	}
	chosen := slices.Clone(names)
	s.random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	chosen = chosen[:n]
	slices.Sort(chosen)
	return chosen
}

func (s *soak) roleNames() []string {
	var names []string
	for _, r := range s.roles {
		names = append(names, r.Name)
	}
	return names
}

// killClient kills a process for good. All of its clients have crashed; another process takes its place a while later.
func (s *soak) killClient(name string) bool {
	c := s.client(name)
	if c.process == nil {
		return false
	}
	i := slices.Index(s.clients, c)
	c.crash()
	c.stopped = false
	now := faketime.MachineTime()
	s.happened(now, history.Event{Kind: history.Fault, Name: "client-kill", Detail: crewName(name, s.lives[i]) + " is killed"})
	for _, worker := range s.roles[i].workers(crewName(name, s.lives[i])) {
		s.happened(now, history.Event{Kind: history.Crash, Process: worker})
	}
	s.after(now, s.upTo(s.Settings.Lock.TTL), func() {
		_ = c.orders.Close()
		s.gone = append(s.gone, c)
		if s.failed == nil {
			s.failed = s.enter(i)
		}
	})
	return true
}
