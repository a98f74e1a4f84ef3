package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/lockkeys"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// rig is a watched world of three nodes and two clients, whose programs a test writes.
type rig struct {
	*sim.World
	*Run
	t        *testing.T
	replicas map[string][]string
}

// ttl is that of all keys and leases of the tests.
const ttl = 10 * time.Second

// scene is what client c1 does, in sentences, and what the rules say of it; nothing if they are to be silent.
type scene struct{ name, does, want string }

// tell has each of them happen in a world of its own. What the rules find there of this kind is what is wanted.
func tell(t *testing.T, kind checker.Kind, world func(*testing.T) *rig, all []scene) {
	t.Helper()
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			r := world(t)
			r.does("c1", c.does)
			r.finds(t, kind, c.want)
		})
	}
}

func newRig(t *testing.T, change ...func(*protocols.RedlockSettings)) *rig {
	return newRigOf(t, nil, change...)
}

// newRigOf is one with replicas, by the names of their nodes.
func newRigOf(t *testing.T, replicas map[string][]string, change ...func(*protocols.RedlockSettings)) *rig {
	lock := protocols.Settings{TTL: ttl, NodeTimeout: 50 * time.Millisecond}.With("redlock")
	for _, c := range change {
		protocols.Change(&lock, c)
	}
	r := unwatched(t, replicas, Run{Lock: lock, Resources: []string{"r"}})
	r.Watch()
	return r
}

// unwatched is a rig in which the run is yet to be watched.
func unwatched(t *testing.T, replicas map[string][]string, run Run) *rig {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B", "C"}, Replicas: replicas, Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}},
		Latency: network.Constant(time.Millisecond)}, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	w.LockOf = lockkeys.Of(nil, run.Resources).Of
	run.World, run.FailsOver = w, len(replicas) > 0
	return &rig{w, &run, t, replicas}
}

// plain are the settings of a rig.
func (r *rig) plain() Run { return Run{Lock: r.Lock, Resources: r.Resources, StepTime: r.StepTime} }

// only is a rig of such a world that a single rule watches.
func (r *rig) only(rule string, change ...func(*Run)) *rig {
	r = unwatched(r.t, r.replicas, r.plain())
	for _, c := range change {
		c(r.Run)
	}
	r.watch(Table[slices.IndexFunc(Table, func(one Rule) bool { return one.Name == rule })])
	return r
}

// These tell of what a client does, as its session would.

func (r *rig) Called(c *protocols.Call) { trace.Tell(r.Events, protocols.Called{Call: c}) }
func (r *rig) Returned(c *protocols.Call, err error) {
	trace.Tell(r.Events, protocols.Returned{Call: c, Err: err})
}
func (r *rig) Stops(w *protocols.Work) { trace.Tell(r.Events, protocols.WorkDone{Work: w}) }
func (r *rig) Worked(w *protocols.Work, err error) {
	trace.Tell(r.Events, protocols.WorkReturned{Work: w, Err: err})
}
func (r *rig) Wants(c *protocols.PermitCall) {
	trace.Tell(r.Events, protocols.PermitCalled{PermitCall: c})
}
func (r *rig) Gets(c *protocols.PermitCall, err error) {
	trace.Tell(r.Events, protocols.PermitReturned{PermitCall: c, Err: err})
}
func (r *rig) Begins(c *protocols.PermitCall, ctx context.Context) {
	trace.Tell(r.Events, protocols.AllBegun{PermitCall: c, In: ctx})
}
func (r *rig) Ends(c *protocols.PermitCall, err error) {
	trace.Tell(r.Events, protocols.AllDone{PermitCall: c, Err: err})
}
func (r *rig) Observed(client string, e observe.Event) {
	trace.Tell(r.Events, protocols.Stepped{Client: client, Event: &e})
}
func (r *rig) WentOn(client string, e observe.Event) {
	trace.Tell(r.Events, protocols.WentOn{Client: client, Event: &e})
}

// rigOf is a rig of a lock with the defaults of its protocol, that a single monitor watches.
func rigOf(t *testing.T, lock protocols.Name, rule string) *rig {
	return newRig(t).only(rule, func(r *Run) { r.Lock = r.Lock.With(lock) })
}

// finds runs the world and compares what the monitors find of a kind with the beginning of a sentence; empty is nothing.
func (r *rig) finds(t *testing.T, kind checker.Kind, want string) {
	t.Helper()
	r.Kernel.Run(kernel.True(time.Minute))
	var found []string
	for _, f := range r.Findings() {
		if f.Kind == kind {
			found = append(found, fmt.Sprintf("%s (%d)", f.Text, f.Count))
		}
	}
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("found %v, want nothing", found)
	case want != "" && (len(found) != 1 || !strings.HasPrefix(found[0], want)):
		t.Errorf("found %q, want %q", found, want)
	}
}

// actor is a client whose program a test writes.
type actor struct {
	*rig
	client *kernel.Process
	asked  int
	open   []*protocols.Call // in the order in which they began
	leases map[string]*lease // by their values
	in     context.Context   // of the calls that it makes; nil if they have none
}

// goes has a client do something, at a true time.
func (r *rig) goes(client string, at time.Duration, program func(*actor)) {
	p := r.Client(client)
	r.Kernel.After(at, func() { p.Go(func() { program(&actor{rig: r, client: p, leases: map[string]*lease{}}) }) })
}

// does has a client do what sentences tell, from the beginning.
func (r *rig) does(client, sentences string) {
	r.goes(client, 0, func(a *actor) { a.does(sentences) })
}

// does does what sentences tell, with a semicolon between two: the client sleeps for a time, sends a command "on" nodes, one
// after the other, or has happen what happens knows. What another client does, and what it does "meanwhile" itself or "in" some
// time, it does not wait for; "then" stands for the semicolon there.
func (a *actor) does(sentences string) {
	for sentence := range strings.SplitSeq(sentences, "; ") {
		words := strings.Fields(sentence)
		rest := strings.ReplaceAll(strings.Join(words[min(1, len(words)):], " "), " then ", "; ")
		switch {
		case len(words) == 0:
		case words[0] == "c2":
			a.rig.goes("c2", 0, func(b *actor) { b.does(rest) })
		case words[0] == "meanwhile":
			a.client.Go(func() { a.does(rest) })
		case words[0] == "in":
			a.Kernel.After(length(words[1]), func() { a.happens(words[2], append(words[3:], "", "", "")...) })
		case len(words) > 2 && words[len(words)-2] == "on":
			a.asks(words[len(words)-1], words[:len(words)-2]...)
		case words[0][0] >= '0' && words[0][0] <= '9':
			a.sleeps(length(words[0]))
		default:
			a.happens(words[0], append(words[1:], "", "", "")...)
		}
	}
}

func length(of string) time.Duration {
	d, err := time.ParseDuration(of)
	if err != nil {
		panic(err)
	}
	return d
}

// causes are the errors that sentences name.
var causes = map[string]error{"": nil, "taken": redlock.ErrTaken, "no-quorum": redlock.ErrNoQuorum, "lost": redlock.ErrLost,
	"released": redlock.ErrReleased, "closed": redlock.ErrClosed, "cancelled": context.Canceled}

// happens has calls of the client begin and return, its leases end, and things happen to it, to nodes and to the links to
// them.
func (a *actor) happens(what string, with ...string) {
	l, err := a.leases[with[0]], error(nil)
	switch what {
	case "acquire", "waiting":
		a.begins(protocols.AcquireCall, nil, what == "waiting")
	case "extend":
		a.begins(protocols.ExtendCall, l, false)
	case "release":
		a.begins(protocols.ReleaseCall, l, false)
	case "granted": // with a value, and for how long by what it says
		c, lasts := a.open[len(a.open)-1], ttl-100*time.Millisecond
		if with[1] != "" {
			lasts = length(with[1])
		}
		l := a.lease(with[0], a.reads().Add(lasts))
		a.leases[with[0]], c.Lease = l, l
		a.returns(nil)
	case "returns": // with an error
		a.returns(causes[with[0]])
	case "moved": // the end of a lease
		l.until = l.until.Add(length(with[1]))
	case "ends": // in time, for what has ended it
		l.ends(a, causes[with[1]])
	case "ended":
		l.cancel(causes[with[1]])
	case "step": // of the library, with a value, about r and perhaps more
		for _, step := range observe.Steps() {
			if step.String() == with[0] {
				a.Observed(a.client.Name(), observe.Event{Step: step, Resource: "r" + strings.ReplaceAll(with[2], ",", separator), Value: with[1]})
			}
		}
	case "prepare":
		a.begins(protocols.PrepareCall, nil, false)
	case "closing":
		a.begins(protocols.CloseCall, nil, false)
	case "expired": // a belief in a grant
		a.Record(history.Event{Kind: history.Expire, Process: a.client.Name(), Grant: 1, Resource: "r"})
	default:
		if is, failed := a.ofClient(what, with[0]); is {
			err = failed
		} else {
			err = faults(a.World, a.client.Name(), what, with[0], with[1])
		}
	}
	if err != nil {
		panic(fmt.Sprint(what, with, ": ", err))
	}
}

// ofClient has something happen to the client, if it is that.
func (a *actor) ofClient(what, with string) (is bool, err error) {
	switch what {
	case "in-a-context": // it makes its calls from now on
		a.in = context.Background()
	case "in-a-context-for":
		a.in, _ = a.client.ProgramClock().WithDeadline(context.Background(), a.client.ProgramClock().Now().Add(length(with)))
	case "new-client":
		a.call(protocols.NewClientCall, nil, nil, nil)
	case "close":
		a.call(protocols.CloseCall, nil, nil, nil)
	case "tried": // to reach a node, and sent nothing
		a.tried[reaching{a.client, a.Server(with)}] = a.Kernel.Now()
	case "pause":
		a.client.Pause()
	case "resume":
		a.client.Resume()
	case "crash":
		err = a.World.Crash(a.World.Client(a.client.Name()))
	case "start":
		err = a.RestartClient(a.client.Name())
	case "clock-step":
		a.client.Clock().Step(length(with))
	case "clock": // goes faster by so many parts in a billion
		rate := int64(0)
		_, err = fmt.Sscan(with, &rate)
		a.client.Clock().SetRate(rate)
	default:
		return false, nil
	}
	return true, err
}

// faults has something happen to a node, or to a client's link to it.
func faults(w *sim.World, client, what, node, by string) error {
	if len(node) != 1 {
		return errors.New("nobody knows what that is")
	}
	s, link := w.Server(node), w.Network.Link(client, node)
	switch what {
	case "kill":
		return s.Kill()
	case "restart":
		return s.Restart()
	case "promote":
		return w.Promote(w.Replicas[0])
	case "pause-node":
		s.Pause()
	case "resume-node":
		s.Resume()
	case "answers-wrongly":
		s.AnswerWith(rediscmd.Status("QUEUED"))
	case "counts": // so far, by hand
		s.Put(redis.Record{Key: driver.TokenKey("r"), Value: by})
	case "drifts":
		s.Clock().SetRate(-kernel.MaxRate / 5)
	case "steps": // its clock
		s.Clock().Step(length(by))
	case "evict":
		s.Evict(func(key string) bool { return key == by })
		w.Record(history.Event{Kind: history.Fault, Name: what, Node: node})
	case "overwrite":
		s.Put(redis.Record{Key: "r", Value: redis.ListValue([]string{"x"})})
		w.Record(history.Event{Kind: history.Fault, Name: what, Node: node})
	case "cut-requests":
		link.Cut(network.Requests)
	case "cut-replies":
		link.Cut(network.Replies)
	case "mend":
		link.Mend(network.Both)
	case "hold":
		link.Hold(network.Both)
	case "delay":
		link.Delay(network.Both, length(by))
	case "reset":
		link.Reset()
	case "takes-up-to":
		link.SetLatency(network.Requests, network.Uniform(0, length(by)))
	case "takes": // a request
		link.SetLatency(network.Requests, network.Constant(length(by)))
	default:
		return errors.New("nobody knows what that is")
	}
	return nil
}

// begins begins a call, and returns ends the one that began last.
func (a *actor) begins(f protocols.CallFunc, l *lease, waits bool) *protocols.Call {
	c := &protocols.Call{Func: f, Client: a.client.Name(), Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Waits: waits, Context: a.in}
	if l != nil {
		c.Lease = l
	}
	a.open = append(a.open, c)
	a.Called(c)
	return c
}

func (a *actor) returns(err error) {
	c := a.open[len(a.open)-1]
	a.open = a.open[:len(a.open)-1]
	a.Returned(c, err)
}

// asks sends a command to nodes, given by their letters, one after the other.
func (a *actor) asks(nodes string, command ...string) {
	for i := range nodes {
		a.asked++
		key := a.Kernel.Draw("test").WithString(a.client.Name()).With(uint64(a.asked)).With(uint64(a.Kernel.Now()))
		a.Conns(a.client)[strings.IndexByte("ABC", nodes[i])].Do(key, a.reads().Add(time.Second), rediscmd.Request{Args: command})
	}
}

func (a *actor) sets(nodes, value string) { a.asks(nodes, "SET", "r", value, "NX", "PX", "10000") }

func (a *actor) reads() time.Time { return a.client.ProgramClock().Now() }

func (a *actor) sleeps(d time.Duration) { a.client.Sleep(context.Background(), d) }

// lease is a lease that a test makes up.
type lease struct {
	value  string
	until  time.Time
	lead   time.Duration // of the context's end before that
	token  int64
	name   string
	on     []string
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (a *actor) lease(value string, until time.Time) *lease {
	ctx, cancel := a.client.ProgramClock().WithCancel(context.Background())
	return &lease{value: value, until: until, name: "r", on: []string{"r"}, ctx: ctx, cancel: cancel}
}

func (l *lease) Resource() string                            { return l.name }
func (l *lease) Resources() []string                         { return l.on }
func (l *lease) Value() string                               { return l.value }
func (l *lease) Quorum() int                                 { return 2 }
func (l *lease) Until() time.Time                            { return l.until }
func (l *lease) ContextEnds() time.Time                      { return l.until.Add(-l.lead) }
func (l *lease) Context() context.Context                    { return l.ctx }
func (l *lease) Token() (int64, bool)                        { return l.token, l.token != 0 }
func (l *lease) Extend(context.Context, time.Duration) error { return nil }
func (l *lease) Unlock(context.Context) error                { return nil }

// call is a call of which the monitors are told, in which does happens.
func (a *actor) call(f protocols.CallFunc, l *lease, err error, does func()) {
	before := l
	if f == protocols.AcquireCall {
		before = nil
	}
	c := a.begins(f, before, false)
	if does != nil {
		does()
	}
	if l != nil {
		c.Lease = l
	}
	a.returns(err)
}

// acquires has the monitors told of a grant with votes of some nodes.
func (a *actor) acquires(nodes, value string) *lease {
	l := a.lease(value, a.reads().Add(ttl-100*time.Millisecond))
	a.call(protocols.AcquireCall, l, nil, func() { a.sets(nodes, value) })
	return l
}

// ended ends the context of a lease when it is over, as a lock should.
func (l *lease) ends(a *actor, cause error) {
	a.sleeps(l.until.Sub(a.reads()) - time.Millisecond)
	l.cancel(cause)
}
