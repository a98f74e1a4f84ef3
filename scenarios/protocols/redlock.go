package protocols

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/semaphore"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

var redlockProtocol = Protocol{Name: "redlock", New: newRedlock, own: defaultRedlock(),
	Steps: redlockSteps(), Capabilities: Capabilities{KeysOnly: true, AllAtOnce: true, LocksAll: true, Permits: true, Closes: true, Warns: true,
		Cancels: true, Repeats: true, Concurrent: true, Lengthens: true, Renews: true}}

func defaultRedlock() RedlockSettings {
	return RedlockSettings{DriftSettings: defaultDrift()}
}

// RedlockSettings are those of protocol redlock.
type RedlockSettings struct {
	QuorumSettings `yaml:",inline"`
	DriftSettings  `yaml:",inline"`
	DelaySettings  `yaml:",inline"`
	// Fencing makes the library draw fencing tokens (WithFencing). Default: false. Example: true
	Fencing bool `yaml:"fencing"`
	// WakeUp has those who wait stand in line at the gate, where a release calls the first (WithWakeUp), and is for how long it
	// is the turn of who is called. With 0s they poll. Default: 0s. Example: 10ms
	WakeUp time.Duration `yaml:"wake-up"`
	// Batching is how many unanswered commands a node may have before the library collects further ones into a batch
	// (WithBatching); 0 is the library's default, 4. Default: 0. Example: 1
	Batching int `yaml:"batching"`
	// LossLead is how long before its end the context of a lease is cancelled (WithLossLead); 0s is the library's default, a
	// twentieth of the TTL. Default: 0s. Example: 500ms
	LossLead time.Duration `yaml:"loss-lead"`
	// CounterTTL is how long a node keeps a fencing counter after its last vote (Fencing.CounterTTL); 0s is the library's
	// default, 90 days. Default: 0s. Example: 1h
	CounterTTL time.Duration `yaml:"counter-ttl" faster:"milliseconds"`
	// Replicas is how many replicas of a node must confirm every acquire and extend before its vote counts (WithReplicas).
	// Default: 0. Example: 1
	Replicas int `yaml:"replicas" range:"0.."`
	// Guard turns on the restart guard (WithRestartGuard). Default: not set. Example: {max-ttl: 10s}
	Guard *Guard `yaml:"guard"`
}

// Guard is the settings of the library's restart guard.
type Guard struct {
	// MaxTTL is the largest TTL of any lock. Example: 10s
	MaxTTL time.Duration `yaml:"max-ttl,required" faster:"milliseconds"`
	// TrustNodeClock lets the node's clock alone end a quarantine, which is unsafe. Default: false. Example: true
	TrustNodeClock bool `yaml:"trust-node-clock"`
}

// choose implements what Settings.Capabilities asks for.
func (own RedlockSettings) choose(c *Capabilities) { c.Tokens = own.Fencing }

// Check asks the library itself what it thinks of the settings.
func (own RedlockSettings) Check(s Settings, nodes int) error {
	if own.CounterTTL != 0 && !own.Fencing {
		return fmt.Errorf("counter-ttl %v is for fencing counters, and there are none without fencing", own.CounterTTL)
	}
	return own.checkResource(s, "r", nodes)
}

// checkResource asks the library what it thinks of the settings, and of a resource.
func (own RedlockSettings) checkResource(s Settings, resource string, n int) error {
	nodes := make([]driver.Node, n)
	for i := range nodes {
		nodes[i] = nobody(fmt.Sprint(i))
	}
	client, err := redlock.New(nodes, s.Options()...)
	if err == nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err = client.TryLock(ended, resource, s.TTL); errors.Is(err, context.Canceled) {
			return nil
		}
	}
	return unprefixed(err)
}

// besides implements what Settings.KeysOf asks for. The names are spelled out: the library is judged by them.
func (own RedlockSettings) besides(resource string) (keys []string) {
	if own.Fencing {
		keys = append(keys, "redlock:token:"+resource)
	}
	if own.Guard != nil {
		keys = append(keys, "redlock:guard") // which all resources share
	}
	return keys
}

// Lead is how long before the end of a lease with that TTL and validity its context ends.
func (own RedlockSettings) Lead(ttl, valid time.Duration) time.Duration {
	lead := min(max(ttl/20, time.Millisecond), time.Second)
	if own.LossLead != 0 {
		lead = own.LossLead
	}
	return min(lead, valid/2)
}

// documented are the defaults that the documentation of package redlock gives. They are spelled out: the library is judged by
// them.
var documented = struct {
	drift       redlock.Drift
	nodeTimeout time.Duration
	retryDelay  Range
}{redlock.Drift{Factor: "1%", Constant: 2 * time.Millisecond}, 50 * time.Millisecond, Range{}}

// Options are the settings of protocol redlock as package redlock takes them. What is as the library documents its default is
// left out, so that runs go by the defaults themselves.
func (s Settings) Options() (opts []redlock.Option) {
	own := Of[RedlockSettings](s)
	if drift := own.Drift.Library(); drift != documented.drift {
		opts = append(opts, redlock.WithDrift(drift))
	}
	if s.NodeTimeout != documented.nodeTimeout {
		opts = append(opts, redlock.WithNodeTimeout(s.NodeTimeout))
	}
	if own.RetryDelay != documented.retryDelay {
		opts = append(opts, redlock.WithRetryDelay(own.RetryDelay.Min, own.RetryDelay.Max))
	}
	if own.Quorum != 0 {
		opts = append(opts, redlock.WithQuorum(own.Quorum))
	}
	if own.Fencing {
		opts = append(opts, redlock.WithFencing(redlock.Fencing{CounterTTL: own.CounterTTL}))
	}
	if own.LossLead != 0 {
		opts = append(opts, redlock.WithLossLead(own.LossLead))
	}
	if own.Batching != 0 {
		opts = append(opts, redlock.WithBatching(own.Batching))
	}
	if own.Guard != nil {
		opts = append(opts, redlock.WithRestartGuard(redlock.Guard{MaxTTL: own.Guard.MaxTTL, TrustNodeClock: own.Guard.TrustNodeClock}))
	}
	if own.WakeUp != 0 {
		opts = append(opts, redlock.WithWakeUp(own.WakeUp))
	}
	return opts
}

func redlockSteps() []string {
	var names []string
	for _, s := range observe.Steps() {
		names = append(names, s.String())
	}
	return names
}

// nobody is a node for asking the library about settings.
type nobody string

func (n nobody) Name() string       { return string(n) }
func (nobody) Do([]*driver.Command) {}

func (nobody) Listen(string, func(string)) func() { return func() {} }

// renewing is a Renewal under way.
type renewing struct {
	Renewal
	in         context.Context // that the lock was asked for in, if its renewals are made in another; nil if not
	extends    bool            // an extend is under way, which can end after the lease was released
	isReleased bool
}

// validity is for how long a lease was valid when it was granted or last extended, and until when.
type validity struct {
	left  time.Duration
	until time.Time
}

// shipped is the shipped library.
type shipped struct {
	env      Env
	client   *redlock.Client
	quorum   int
	renewing map[string]*renewing // by the value of the lease
	valid    map[string]validity  // of the leases, by their value

	stepped  *trace.Kind[Stepped]
	wentOn   *trace.Kind[WentOn]
	reported observe.Event // memory for the step that is told of

	semaphores map[semaphoreOf]*semaphore.Semaphore
	granted    map[string]*shippedLease // by the value of the lease, of permits that are about to be returned
}

func newRedlock(env Env) (Locker, error) {
	return newShipped(env, env.Nodes(), func(nodes []driver.Node, options ...redlock.Option) (*redlock.Client, error) {
		if n := Of[RedlockSettings](env.Settings).Replicas; n > 0 {
			options = append(options, redlock.WithReplicas(n))
		}
		return redlock.New(nodes, options...)
	})
}

// newShipped makes a client of the shipped library on some nodes.
func newShipped(env Env, nodes []driver.Node, client func([]driver.Node, ...redlock.Option) (*redlock.Client, error)) (_ Locker, err error) {
	x := &shipped{env: env, quorum: Of[RedlockSettings](env.Settings).quorum(len(nodes)), renewing: map[string]*renewing{}, valid: map[string]validity{},
		stepped: trace.Of[Stepped](env.Events), wentOn: trace.Of[WentOn](env.Events),
		semaphores: map[semaphoreOf]*semaphore.Semaphore{}, granted: map[string]*shippedLease{}}
	x.client, err = client(nodes, append(env.Settings.Options(), redlock.WithRuntime(env.Runtime()), redlock.WithObserver(x))...)
	return x, err
}

func (x *shipped) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.acquire(ttl, func() (*redlock.Lease, error) { return x.client.Lock(ctx, resource, ttl) })
}

func (x *shipped) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.acquire(ttl, func() (*redlock.Lease, error) { return x.client.TryLock(ctx, resource, ttl) })
}

// LockAll implements AllLocker.
func (x *shipped) LockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error) {
	return x.acquire(ttl, func() (*redlock.Lease, error) { return x.client.LockAll(ctx, resources, ttl) })
}

// TryLockAll implements AllLocker.
func (x *shipped) TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error) {
	return x.acquire(ttl, func() (*redlock.Lease, error) { return x.client.TryLockAll(ctx, resources, ttl) })
}

// Prepare declares the nodes fit to vote; see redlock.Client.PrepareGuard.
func (x *shipped) Prepare(ctx context.Context) error {
	x.env.Leave()
	defer x.env.Enter()
	return x.client.PrepareGuard(ctx)
}

// Close closes the client.
func (x *shipped) Close(ctx context.Context) error {
	x.env.Leave()
	defer x.env.Enter()
	return x.client.Close(ctx)
}

func (x *shipped) acquire(ttl time.Duration, lock func() (*redlock.Lease, error)) (Lease, error) {
	x.env.Leave()
	l, err := lock()
	x.env.Enter()
	if err != nil {
		return nil, err
	}
	return x.lease(l, ttl), nil
}

// lease is a lease of the library that was just granted.
func (x *shipped) lease(l *redlock.Lease, ttl time.Duration) *shippedLease {
	return &shippedLease{Lease: l, library: x, ttl: ttl}
}

// Hold implements Holder.
func (x *shipped) Hold(ctx context.Context, resource string, ttl time.Duration, r Renewal, work func(context.Context, Lease) error) error {
	does := func(ctx context.Context, l *redlock.Lease) error {
		x.env.Enter()
		defer x.env.Leave()
		x.renewing[l.Value()] = &renewing{Renewal: r}
		return work(ctx, x.lease(l, ttl))
	}
	if work == nil {
		does = nil
	}
	x.env.Leave()
	defer x.env.Enter() // also after a panic of the work
	return x.client.Hold(ctx, resource, ttl, r.library(), does)
}

// library is the renewal as package redlock takes it, whose own limits it has if it sets none.
func (r Renewal) library() redlock.Renewal {
	l := redlock.Renewal{Wait: r.Wait, Period: r.Period, Jitter: r.Jitter, Limit: r.Limit, MaxTime: r.MaxTime}
	switch {
	case l.Limit == 0 && l.MaxTime != 0:
		l.Limit = redlock.Unlimited
	case l.Limit != 0 && l.MaxTime == 0:
		l.MaxTime = redlock.Unlimited
	}
	return l
}

type shippedLease struct {
	*redlock.Lease
	library *shipped
	ttl     time.Duration
	// permit is what it is a permit of a semaphore by; nil if it is none.
	permit *semaphore.Permit
}

// Quorum implements Voted.
func (l *shippedLease) Quorum() int { return l.library.quorum }

// ContextEnds implements Warner; see redlock.WithLossLead.
func (l *shippedLease) ContextEnds() time.Time {
	x := l.library
	return l.Until().Add(-Of[RedlockSettings](x.env.Settings).Lead(l.ttl, x.valid[l.Value()].left))
}

func (l *shippedLease) Extend(ctx context.Context, ttl time.Duration) error {
	l.library.env.Leave()
	defer l.library.env.Enter()
	err := l.Lease.Extend(ctx, ttl)
	if err == nil {
		l.ttl = ttl
	}
	return err
}

func (l *shippedLease) Unlock(ctx context.Context) error {
	l.library.env.Leave()
	defer l.library.env.Enter()
	if l.permit != nil {
		return l.permit.Unlock(ctx)
	}
	return l.Lease.Unlock(ctx)
}

// Renew implements Renewer. While another call renews the lease, which the library does not tell apart, this one must not.
func (l *shippedLease) Renew(ctx context.Context, r Renewal, work func(context.Context) error) error {
	x := l.library
	does := func(ctx context.Context) error {
		x.env.Enter()
		defer x.env.Leave()
		return work(ctx)
	}
	if work == nil {
		does = nil
	}
	_, isInside := x.renewing[l.Value()]
	if !isInside {
		x.renewing[l.Value()] = &renewing{Renewal: r}
	}
	x.env.Leave()
	defer func() {
		x.env.Enter()
		if !isInside {
			delete(x.renewing, l.Value())
		}
	}()
	return l.Lease.Renew(ctx, r.library(), does)
}

// Observe passes the library's steps on, and the renewals that they belong to. What a semaphore tells of itself is no step: its
// calls ask for permits by calls of their own.
func (x *shipped) Observe(ctx context.Context, e observe.Event) {
	if e.Step == observe.GaveUp && e.Call == "" {
		return
	}
	x.env.Enter()
	defer x.env.Leave()
	x.reported = e
	x.stepped.Tell(Stepped{x.env.Name(), &x.reported})
	if (e.Step == observe.Granted || e.Step == observe.Extended) && e.Until.After(x.valid[e.Value].until) {
		x.valid[e.Value] = validity{e.Validity, e.Until}
	}
	r := x.renewing[e.Value]
	holds := r != nil && r.Releases != nil && !r.isReleased
	switch {
	case r != nil && e.Step == observe.ExtendStarted:
		r.extends = true
		r.Begins()
	case holds && e.Step == observe.ReleaseStarted:
		r.Releases()
	}
	if r != nil && r.in != nil {
		ctx = r.in
	}
	x.step(ctx, e)
	x.reported = e
	x.wentOn.Tell(WentOn{x.env.Name(), &x.reported})
	switch {
	case r != nil && (e.Step == observe.Extended || e.Step == observe.NotExtended):
		r.extends = false
		r.Ends(e.Err)
	case holds && e.Step == observe.Released:
		r.isReleased = true
		r.Released(e.Err)
	}
	if r != nil && r.isReleased && !r.extends {
		delete(x.renewing, e.Value)
	}
}

func (x *shipped) step(ctx context.Context, e observe.Event) {
	s := Step{Name: e.Step.String(), Attempt: e.Attempt, Span: e.Validity, Late: e.Late}
	switch e.Step {
	case observe.Granted, observe.Extended:
		x.env.Believe(ctx, e.Until)
	case observe.NodeAnswered:
		s.Node, s.Detail = e.Node.Node, e.Node.Outcome.Of(e.Op)
	case observe.Joined, observe.TakenBack:
		s.Node, s.Detail, s.Late = e.Node.Node, e.Node.Outcome.Of(e.Op), true
	case observe.GateAsked:
		s.Node = e.Node.Node
	case observe.Lost:
		s.Late = true
	case observe.Retrying, observe.Yielding:
		s.Span = e.Delay
	case observe.Denied:
		x.env.Attempt(ctx, e.Attempt+1)
	}
	if e.Err != nil {
		s.Detail = Reason(e.Err)
	}
	x.env.Step(ctx, s)
}

// Outcome is what a client knows of a release or extend that returned this, and why.
func Outcome(err error) (outcome history.Outcome, why string) {
	switch {
	case err == nil:
		return history.OK, ""
	case errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased):
		return history.Failed, Reason(err)
	}
	return history.Unknown, Reason(err)
}

// Reason is why a call of a protocol failed, in words that do not depend on the tier.
func Reason(err error) string {
	var e *redlock.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	switch {
	case e.Reason != nil && e.Cause != nil:
		return e.Reason.Error() + ", " + e.Cause.Error()
	case e.Reason != nil:
		return e.Reason.Error()
	}
	return e.Cause.Error()
}
