package protocols

import (
	"context"
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// Misuse is a wrong argument, which a lock that [Capabilities.Refuses] refuses before it does anything else. To add one, give
// it an entry in misuses.
type Misuse string

// Arguments are what a call of a lock is made with. Each kind of call has some of them.
type Arguments struct {
	Settings  Settings // of the lock, to know what is wrong for it
	Context   context.Context
	Resources []string
	TTL       time.Duration
	Renewal   Renewal
	Work      func(context.Context) error
	Permits   int // of the semaphore that the only resource names, if it does
	Nodes     []driver.Node
	Options   []redlock.Option
}

// Argument is one of the Arguments, or a part of it that not every call has which has the others.
type Argument uint8

// The arguments.
const (
	ContextArgument Argument = iota
	NameArgument             // of a resource
	NamesArgument            // a list of them
	TTLArgument
	WaitArgument    // Renewal.Wait
	RenewalArgument // the rest of it
	WorkArgument
	SemaphoreArgument // its name and Permits
	ClientArgument    // Nodes and Options
)

// misuse is an entry for a Misuse.
type misuse struct {
	name Misuse
	of   Argument
	text string // what is wrong, behind "a call with"
	put  func(*Arguments)
	// unless says why a lock with these settings takes the argument for a good one; nil if every lock refuses it.
	unless func(Settings) string
}

// misuses lists what is documented to be wrong in calls of packages redlock and semaphore, and in redlock.New. All of it
// matches ErrInvalid. Limits and names are spelled out: the library is judged by them.
var misuses = []misuse{
	{name: "nil-context", of: ContextArgument, text: "a nil context", put: func(a *Arguments) { a.Context = nil }},

	{name: "name-empty", of: NameArgument, text: "an empty name", put: lastName("")},
	{name: "name-too-long", of: NameArgument, text: "a name of 4097 bytes", put: lastName(strings.Repeat("r", 4097))},
	{name: "name-of-the-guard", of: NameArgument, text: "the name of the restart guard's record", put: lastName("redlock:guard"), unless: takesAnyName},
	{name: "name-of-a-counter", of: NameArgument, text: "the name of a fencing counter", put: lastName("redlock:token:r"), unless: takesAnyName},
	{name: "names-none", of: NamesArgument, text: "no resource", put: func(a *Arguments) { a.Resources = nil }},
	{name: "names-twice", of: NamesArgument, text: "a resource named twice", put: func(a *Arguments) { a.Resources = append(a.Resources, a.Resources[0]) }},

	{name: "ttl-zero", of: TTLArgument, text: "a TTL of 0s", put: func(a *Arguments) { a.TTL = 0 }},
	{name: "ttl-negative", of: TTLArgument, text: "a negative TTL", put: func(a *Arguments) { a.TTL = -a.TTL }},
	{name: "ttl-fraction", of: TTLArgument, text: "a TTL that is no whole number of milliseconds", put: func(a *Arguments) { a.TTL += time.Microsecond }},
	{name: "ttl-within-drift", of: TTLArgument, text: "a TTL that is not larger than its drift allowance",
		put: func(a *Arguments) { a.TTL = Of[RedlockSettings](a.Settings).Drift.Constant.Truncate(time.Millisecond) },
		unless: func(s Settings) string {
			return unless(Of[RedlockSettings](s).Drift.Constant >= time.Millisecond, "its drift allowance has no constant of a millisecond or more")
		}},
	{name: "ttl-above-guard", of: TTLArgument, text: "a TTL above the restart guard's MaxTTL",
		put:    func(a *Arguments) { a.TTL = Of[RedlockSettings](a.Settings).Guard.MaxTTL + time.Millisecond },
		unless: func(s Settings) string { return unless(Of[RedlockSettings](s).Guard != nil, "it has no restart guard") }},
	{name: "ttl-above-counters", of: TTLArgument, text: "a TTL above that of the fencing counters",
		put: func(a *Arguments) { a.TTL = Of[RedlockSettings](a.Settings).CounterTTL + time.Millisecond },
		unless: func(s Settings) string {
			return unless(Of[RedlockSettings](s).CounterTTL != 0, "it has no counter-ttl")
		}},

	{name: "wait-negative", of: WaitArgument, text: "a negative wait", put: func(a *Arguments) { a.Renewal.Wait = -1 }},
	{name: "period-negative", of: RenewalArgument, text: "a negative period", put: func(a *Arguments) { a.Renewal.Period = -1 }},
	{name: "period-too-long", of: RenewalArgument, text: "a period of more than half of the TTL", put: func(a *Arguments) { a.Renewal.Period = a.TTL/2 + 1 }},
	{name: "jitter-negative", of: RenewalArgument, text: "a negative jitter", put: func(a *Arguments) { a.Renewal.Jitter = -1 }},
	{name: "jitter-too-long", of: RenewalArgument, text: "a jitter of more than the period", put: func(a *Arguments) { a.Renewal.Jitter = a.TTL/3 + 1 }},
	{name: "limit-negative", of: RenewalArgument, text: "a limit below Unlimited", put: func(a *Arguments) { a.Renewal.Limit = redlock.Unlimited - 1 }},
	{name: "max-time-negative", of: RenewalArgument, text: "a longest time below Unlimited", put: func(a *Arguments) { a.Renewal.MaxTime = redlock.Unlimited - 1 }},
	{name: "work-nil", of: WorkArgument, text: "no work", put: func(a *Arguments) { a.Work = nil }},

	{name: "semaphore-unnamed", of: SemaphoreArgument, text: "an empty name of the semaphore", put: lastName("")},
	{name: "semaphore-name-too-long", of: SemaphoreArgument, text: "a semaphore's name of 4095 bytes, so that those of its permits are too long",
		put: lastName(strings.Repeat("s", 4095))},
	{name: "permits-none", of: SemaphoreArgument, text: "no permits", put: func(a *Arguments) { a.Permits = 0 }},
	{name: "permits-too-many", of: SemaphoreArgument, text: "257 permits", put: func(a *Arguments) { a.Permits = 257 }},

	{name: "nodes-none", of: ClientArgument, text: "no nodes", put: func(a *Arguments) { a.Nodes = nil }, unless: takesOneNode},
	{name: "nodes-too-many", of: ClientArgument, text: "65 nodes", put: func(a *Arguments) {
		for i := len(a.Nodes); i < 65; i++ {
			a.Nodes = append(a.Nodes, nobody(fmt.Sprint(i)))
		}
	}, unless: takesOneNode},
	{name: "node-nil", of: ClientArgument, text: "a nil node", put: func(a *Arguments) { a.Nodes = append(a.Nodes, nil) }, unless: takesOneNode},
	{name: "node-twice", of: ClientArgument, text: "a node listed twice", put: func(a *Arguments) { a.Nodes = append(a.Nodes, a.Nodes[0]) }, unless: takesOneNode},
	{name: "option-nil", of: ClientArgument, text: "a nil option", put: option(nil)},
	{name: "quorum-too-small", of: ClientArgument, text: "a quorum of less than a majority", put: func(a *Arguments) { option(redlock.WithQuorum(len(a.Nodes) / 2))(a) }},
	{name: "quorum-too-large", of: ClientArgument, text: "a quorum of more than all nodes", put: func(a *Arguments) { option(redlock.WithQuorum(len(a.Nodes) + 1))(a) }},
	{name: "drift-factor-of-one", of: ClientArgument, text: "a drift factor of 100%", put: option(redlock.WithDrift(redlock.Drift{Factor: "100%"}))},
	{name: "drift-factor-negative", of: ClientArgument, text: "a negative drift factor", put: option(redlock.WithDrift(redlock.Drift{Factor: "-0.01"}))},
	{name: "drift-factor-no-number", of: ClientArgument, text: "a drift factor that is no number", put: option(redlock.WithDrift(redlock.Drift{Factor: "some"}))},
	{name: "drift-factor-too-long", of: ClientArgument, text: "a drift factor of 65 characters", put: option(redlock.WithDrift(redlock.Drift{Factor: "0." + strings.Repeat("0", 63)}))},
	{name: "drift-constant-negative", of: ClientArgument, text: "a negative drift constant", put: option(redlock.WithDrift(redlock.Drift{Constant: -1}))},
	{name: "node-timeout-zero", of: ClientArgument, text: "a node timeout of 0s", put: option(redlock.WithNodeTimeout(0))},
	{name: "retry-delay-zero", of: ClientArgument, text: "a retry delay from 0s", put: option(redlock.WithRetryDelay(0, time.Second))},
	{name: "retry-delay-falls", of: ClientArgument, text: "a retry delay whose end is before its beginning", put: option(redlock.WithRetryDelay(2, 1))},
	{name: "loss-lead-zero", of: ClientArgument, text: "a loss lead of 0s", put: option(redlock.WithLossLead(0))},
	{name: "batching-zero", of: ClientArgument, text: "a batching limit of 0", put: option(redlock.WithBatching(0))},
	{name: "guard-without-max-ttl", of: ClientArgument, text: "a restart guard without MaxTTL", put: option(redlock.WithRestartGuard(redlock.Guard{}))},
	{name: "guard-max-ttl-fraction", of: ClientArgument, text: "a MaxTTL that is no whole number of milliseconds",
		put: option(redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Second + 1}))},
	{name: "counter-ttl-negative", of: ClientArgument, text: "a negative CounterTTL", put: option(redlock.WithFencing(redlock.Fencing{CounterTTL: -time.Second}))},
	{name: "counter-ttl-fraction", of: ClientArgument, text: "a CounterTTL that is no whole number of milliseconds",
		put: option(redlock.WithFencing(redlock.Fencing{CounterTTL: time.Second + 1}))},
	{name: "wake-up-zero", of: ClientArgument, text: "a wake-up spread of 0s", put: option(redlock.WithWakeUp(0))},
	{name: "wake-up-unheard", of: ClientArgument, text: "a wake-up over a node that is no Listener", put: func(a *Arguments) {
		a.Nodes[len(a.Nodes)-1] = struct{ driver.Node }{a.Nodes[len(a.Nodes)-1]}
		option(redlock.WithWakeUp(time.Second))(a)
	}},
}

// lastName has the call name something else than the last of its resources.
func lastName(name string) func(*Arguments) {
	return func(a *Arguments) { a.Resources[len(a.Resources)-1] = name }
}

// option has a client made with an option besides the others.
func option(o redlock.Option) func(*Arguments) {
	return func(a *Arguments) { a.Options = append(a.Options, o) }
}

func unless(isRefused bool, why string) string {
	if isRefused {
		return ""
	}
	return why
}

// takesAnyName says why the name of a resource may be any; empty if some are refused.
func takesAnyName(s Settings) string {
	own := Of[RedlockSettings](s)
	return unless(own.Fencing || own.Guard != nil, "it keeps no names for itself, having neither fencing nor the restart guard")
}

// takesOneNode says why a lock is not made with several nodes; empty if it is.
func takesOneNode(s Settings) string {
	return unless(!Has[OneRedisSettings](s), "it is made with one Redis, and not with nodes")
}

var _ = strictyaml.EnumOf("misuse", Misuses()...)

// Misuses lists them all.
func Misuses() []Misuse {
	all := make([]Misuse, len(misuses))
	for i := range misuses {
		all[i] = misuses[i].name
	}
	return all
}

// entry is that of a known one.
func (m Misuse) entry() *misuse {
	for i := range misuses {
		if misuses[i].name == m {
			return &misuses[i]
		}
	}
	panic("protocols: no such misuse: " + string(m))
}

// Of is the argument that is wrong.
func (m Misuse) Of() Argument { return m.entry().of }

// String says what is wrong, behind "a call with".
func (m Misuse) String() string { return m.entry().text }

// Put puts the wrong argument among the others, whose slices it may change.
func (m Misuse) Put(a *Arguments) { m.entry().put(a) }

// Unless says why a lock with these settings would take the argument for a good one; empty if it refuses it.
func (m Misuse) Unless(s Settings) string {
	if e := m.entry(); e.unless != nil {
		return e.unless(s)
	}
	return ""
}

// Holds is the work as a Holder calls it; nil if there is none.
func (a *Arguments) Holds() func(context.Context, Lease) error {
	if a.Work == nil {
		return nil
	}
	return func(ctx context.Context, _ Lease) error { return a.Work(ctx) }
}
