package protocols

import (
	"context"
	"fmt"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim/consensus"
)

// consensusClient is a client of a lock service with sessions, as etcd and ZooKeeper are; see package sim/consensus. It
// is no Redis protocol, and the same on both tiers. Each acquisition is a session of its own, kept alive three times in
// its time to live. The fencing token is the revision of the grant.
type consensusClient struct {
	session
	host    *Simulated
	service *consensus.Service
	leader  int // the node that it asks first
	delay   Range
	belief  Belief
}

var consensusProtocol = Protocol{Name: "consensus", New: newConsensus, own: ConsensusSettings{RetrySettings: defaultRetry()}, Steps: consensusSteps,
	Capabilities: Capabilities{Agree: true, Service: "lock service", Tokens: true}}

// ConsensusSettings are those of protocol consensus.
type ConsensusSettings struct {
	RetrySettings `yaml:",inline"`
	// Belief is how long a client believes in its lock: acknowledged (a TTL from its last request that was acknowledged) or
	// told (until the service says that the session has ended). Default: acknowledged. Example: told
	Belief Belief `yaml:"belief"`
}

// Belief is how long a client believes in its lock.
type Belief uint8

const (
	// UntilAcknowledged: until its time to live has passed since it sent the last request that was acknowledged.
	UntilAcknowledged Belief = iota
	// UntilTold: until the service says that the session has ended.
	UntilTold
)

var _ = strictyaml.Enum[Belief]("belief").Word("acknowledged", UntilAcknowledged).Word("told", UntilTold)

// The steps of protocol consensus.
var consensusSteps = []string{sessionKept, sessionGone}

const (
	sessionKept = "session-kept"
	sessionGone = "session-gone"
)

func newConsensus(env Env) (Locker, error) {
	h, err := env.simulated()
	if err != nil {
		return nil, err
	}
	own := Of[ConsensusSettings](env.Settings)
	return &consensusClient{session: session{env: env, clock: env.LockClock()}, host: h, service: consensus.Of(h.World),
		delay: own.RetryDelay, belief: own.Belief}, nil
}

func (x *consensusClient) Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.retry(ctx, func() (Lease, error) { return x.acquire(ctx, resource, ttl, true) })
}

func (x *consensusClient) TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error) {
	return x.acquire(ctx, resource, ttl, false)
}

// acquire opens a session and asks for the lock under it. In the queue it goes on asking, which keeps the session alive.
func (x *consensusClient) acquire(ctx context.Context, resource string, ttl time.Duration, queue bool) (Lease, error) {
	name, err := x.value()
	if err != nil {
		return nil, err
	}
	r := consensus.Request{Kind: consensus.Acquire, Session: name, Resource: resource, TTL: ttl, Queue: queue}
	for err == nil {
		var a answered
		if a, err = x.ask(ctx, x.clock.Now().Add(ttl), r); err != nil {
			break
		}
		switch {
		case a.Status == consensus.Done && x.clock.Now().Before(a.sent.Add(ttl)):
			return x.granted(ctx, name, ttl, a), nil
		case a.Status == consensus.Done:
			err = redlock.ErrTooLate
		case a.Status == consensus.Gone || !queue:
			err = redlock.ErrTaken
		default:
			x.pause(ctx)
			if ctx.Err() != nil {
				err = redlock.ErrTaken
			}
		}
	}
	if queue || !isTaken(err) {
		// The session may be open, or be opened by a request that is still under way: not after this.
		_, _ = x.ask(context.Background(), x.clock.Now().Add(x.env.Settings.NodeTimeout), consensus.Request{Kind: consensus.Close, Session: name})
	}
	return nil, err
}

func isTaken(err error) bool { return err == redlock.ErrTaken }

// pause lets a random delay pass.
func (x *consensusClient) pause(ctx context.Context) {
	x.env.Sleep(ctx, x.within(x.delay))
}

// answered is an answer, when the request was sent, and whether it had been sent before, to a node that did not answer.
type answered struct {
	consensus.Answer
	sent     time.Time
	repeated bool
}

// ask sends a request to one node after the other until the leader has answered it, the lock clock reads deadline, or ctx
// ends.
func (x *consensusClient) ask(ctx context.Context, deadline time.Time, r consensus.Request) (answered, error) {
	for repeated := false; ; {
		sent := x.clock.Now()
		switch {
		case ctx.Err() != nil:
			return answered{}, redlock.ErrNoQuorum
		case !sent.Before(deadline):
			return answered{}, redlock.ErrNoQuorum
		}
		a, err := x.service.Ask(x.host.Process, x.leader, x.host.Key(), sent.Add(x.env.Settings.NodeTimeout), r)
		switch {
		case err == nil && a.Status != consensus.NotLeader:
			return answered{a, sent, repeated}, nil
		case err == nil && a.Leader >= 0 && a.Leader != x.leader:
			x.leader = a.Leader
		default:
			repeated = repeated || err != nil
			x.leader = (x.leader + 1) % x.service.Size()
			x.pause(ctx)
		}
	}
}

func (x *consensusClient) granted(ctx context.Context, name string, ttl time.Duration, a answered) Lease {
	l := &consensusLease{consensusClient: x, held: held{ctx: ctx, ttl: ttl}, name: name, revision: a.Revision}
	l.alive, l.end = x.clock.WithCancel(context.Background())
	l.acknowledged(a.sent)
	x.env.Tasks().Start(l.keep)
	return l
}

// consensusLease is a lock under a session.
type consensusLease struct {
	*consensusClient
	held     // until the zero time, if the client believes until it is told otherwise
	name     string
	revision int64
	alive    context.Context // ends with the session, as far as the client knows
	end      context.CancelCauseFunc
}

func (l *consensusLease) Context() context.Context { return l.alive }
func (l *consensusLease) Token() (int64, bool)     { return l.revision, true }

// Holder implements Standing.
func (l *consensusLease) Holder() string { return l.name }

// acknowledged takes note that the service has heard of the session. It counts the time to live from a moment after the
// request was sent; the client counts from before.
func (l *consensusLease) acknowledged(sent time.Time) {
	if l.belief == UntilTold {
		l.env.Believe(l.ctx, time.Time{})
		return
	}
	if until := sent.Add(l.ttl); until.After(l.until) {
		l.believe(l.env, until)
	}
}

// keep keeps the session alive until it has ended.
func (l *consensusLease) keep() {
	for {
		l.env.Sleep(l.alive, l.ttl/3)
		if l.alive.Err() != nil {
			return
		}
		a, err := l.ask(l.alive, l.patience(), consensus.Request{Kind: consensus.KeepAlive, Session: l.name})
		untilTold := l.belief == UntilTold
		switch {
		case l.alive.Err() != nil:
			return
		case err != nil && untilTold:
		case err != nil, !untilTold && !l.clock.Now().Before(l.until):
			l.end(redlock.ErrLost)
		case a.Status == consensus.Gone:
			l.env.Step(l.ctx, Step{Name: sessionGone, Late: true})
			l.env.Disbelieve(l.ctx, "it is told that its session is gone")
			l.end(redlock.ErrLost)
		default:
			l.env.Step(l.ctx, Step{Name: sessionKept, Late: true})
			l.acknowledged(a.sent)
		}
	}
}

// patience is until when to ask about the session.
func (l *consensusLease) patience() time.Time {
	if l.until.IsZero() {
		return l.clock.Now().Add(l.ttl)
	}
	return l.until
}

// Extend keeps the session alive once more. A session's time to live is fixed: ttl is not looked at.
func (l *consensusLease) Extend(_ context.Context, ttl time.Duration) error {
	a, err := l.ask(l.alive, l.patience(), consensus.Request{Kind: consensus.KeepAlive, Session: l.name})
	switch {
	case err != nil:
		return err
	case a.Status == consensus.Gone || l.alive.Err() != nil:
		return redlock.ErrLost
	}
	l.acknowledged(a.sent)
	return nil
}

// Unlock closes the session. If only a repetition of the request is answered, the session may have been closed by the
// first: that it is gone then is what was asked for.
func (l *consensusLease) Unlock(context.Context) error {
	l.end(redlock.ErrReleased)
	a, err := l.ask(context.Background(), l.clock.Now().Add(l.ttl), consensus.Request{Kind: consensus.Close, Session: l.name})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", rediscmd.ErrTimeout, err)
	case a.Status == consensus.Gone && !a.repeated:
		return redlock.ErrLost
	}
	return nil
}
