package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/search/settings"
	"redlocksim/sim/kernel"
)

// Space is what experiments are drawn from.
type Space struct {
	// Base has the settings: lock, nodes, network, storage, and the budget of assumptions. Its timeline is not looked at.
	Base *scenarios.Scenario `json:"-"`
	// Swarm has settings drawn for each experiment, too, around those of Base, and the budget that they bear: see package
	// settings.
	Swarm bool
	// Beyond has faults drawn that exceed the budget, too.
	Beyond bool
	// Strays has such faults drawn for one candidate of eight. They excuse what locks do not promise then, and nothing else:
	// that is where leases are lost, extends fail and nodes contradict each other.
	Strays bool
	// WorstFirst has a search begin with the worst schedules of the budget, before it draws any.
	WorstFirst bool
	// Clients is the largest number of clients.
	Clients int
	// Duration is the length of a run in true time.
	Duration time.Duration
	// Apart has no two resources locked as one, though the protocol could.
	Apart bool
	// Own says that the lock is one of the caller's own: it is asked for nothing that a lock need not be able to do.
	Own bool
	// Foreign is somebody's lock in the place of Base's protocol, of whose steps nobody knows; nil if there is none.
	Foreign *scenarios.Foreign `json:"-"`
	// times are those of Base, for half of the lengths that are drawn; none before an experiment is.
	times faults.Times
}

// What Check takes.
const (
	MinClients  = 2
	MaxClients  = 20
	MinDuration = 10 * time.Millisecond
	MaxDuration = time.Hour
)

// Check says what is wrong with a space. Draw wants one with which nothing is.
func (s Space) Check() error {
	switch {
	case s.Clients < MinClients || s.Clients > MaxClients:
		return fmt.Errorf("experiments with up to %d clients: want %d to %d", s.Clients, MinClients, MaxClients)
	case s.Duration < MinDuration || s.Duration > MaxDuration:
		return fmt.Errorf("experiments of %v: want %v to %v", s.Duration, MinDuration, MaxDuration)
	}
	return nil
}

// NewSpace is the space around a base, with runs of 30 s and three clients, in which candidates stray.
func NewSpace(base *scenarios.Scenario) Space {
	return Space{Base: base, Clients: 3, Duration: 30 * time.Second, Strays: true}
}

// DrawnAround is the settings around which those of each experiment are drawn; nil if they are not.
func (s Space) DrawnAround() *scenarios.Scenario {
	if !s.Swarm {
		return nil
	}
	return s.Base
}

// Features are those of the library that experiments turn on.
func (s Space) Features() []reach.Feature {
	if !s.Swarm {
		return s.Base.Features()
	}
	return append(s.Base.Features(), settings.Features()...)
}

// of is the space around the settings that a seed draws.
func (s Space) of(seed uint64) Space {
	if s.Swarm {
		s.Base = settings.Draw(Choices(seed, "settings", 0), s.Base)
	}
	s.Beyond = s.Beyond || s.Strays && Choices(seed, "strays", 0).Below(8) == 0
	if s.renewsItself() && len(s.Base.Resources) == 1 && Choices(seed, "beside", 0).Below(2) == 0 {
		base := *s.Base // in which a client can have two locks, which are renewed beside each other
		base.Resources = append(slices.Clone(base.Resources), base.Resources[0]+"-2")
		s.Base = &base
	}
	return s
}

// Draw draws an experiment: a workload and, of each family of faults, none or a few. Most families are off in most
// experiments, so that one is stormy in one way and calm in all others ("swarm testing", Groce et al. 2012).
func (s Space) Draw(c faults.Choices) *scenarios.Scenario {
	s.times = timesOf(s)
	x := *s.Base
	x.Name = "drawn"
	x.Duration = s.Duration
	x.Clients, x.Timeline = nil, nil
	x.Expect = scenarios.Expect{Unavailable: scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: s.Duration}}}
	for i := range 2 + c.For("clients", 0).Below(int64(max(s.Clients-1, 1))) {
		x.Clients = append(x.Clients, fmt.Sprintf("client-%d", i+1))
	}
	x.Timeline = s.prepares(x.Clients[0], c)
	for i, name := range x.Clients {
		x.Timeline = append(x.Timeline, s.work(c.For("work", i), name)...)
	}
	x.Timeline = append(x.Timeline, s.waiters(&x, c.For("waiters", 0))...)
	x.Timeline = append(x.Timeline, s.rush(&x, c.For("rush", 0))...)
	for i, name := range x.Clients {
		switch work := c.For("work", i); {
		case s.lingers(work):
			x.Timeline = append(x.Timeline, s.stopped(&x, name, c.For("stopped", i))...)
		case s.isLate(work):
			x.Timeline = append(x.Timeline, s.stoppedLate(&x, name, c.For("stopped", i))...)
		}
	}
	on := c.For("families", 0).Below(4) // how many are on: on in 8 + 1
	for _, k := range s.kinds() {
		family := c.For(k.Name, 0)
		if family.For("on", 0).Below(8) < 7-on {
			continue
		}
		// Seldom many, or several at once: one time server misleads a number of nodes, one rack loses power.
		when := s.moment(family.For("moment", 0), &x)
		atOnce := family.For("at once", 0).Below(4) == 1
		count := 1 + family.For("count", 0).Below(1+family.For("most", 0).Below(6))
		if atOnce {
			count = max(count, 2+family.For("how many", 0).Below(4))
		}
		for i := range int(count) {
			one := family.For("fault", i)
			if i > 0 && !atOnce {
				when = s.moment(one.For("moment", 0), &x)
			}
			limits := s.about(&x, when)
			if atOnce {
				limits.Focus = x.Nodes.Names
			}
			if f := k.Draw(one, limits); f != nil {
				x.Timeline = append(x.Timeline, scenarios.Item{When: when, Kind: k.Name, Fault: f})
			}
		}
	}
	x.Timeline = append(x.Timeline, s.quarantines(&x, c.For("quarantine", 0))...)
	x.Timeline = append(x.Timeline, s.counters(&x, c.For("counters", 0))...)
	return &x
}

// prepares draws a client that declares the nodes fit to vote, without which the restart guard grants nobody anything for the
// largest TTL. Some give up, or are closed, before they have done so.
func (s Space) prepares(client string, c faults.Choices) []scenarios.Item {
	guard := protocols.Of[protocols.RedlockSettings](s.Base.Lock).Guard
	if guard == nil {
		return nil
	}
	prepare := step(scenarios.PrepareStep, 0)
	if guard.MaxTTL < s.Duration/2 { // else the whole run would be wasted
		s.worker(c.For("prepares", 0)).end(c.For("gives up", 0), &prepare)
	}
	items := []scenarios.Item{{Client: client, Do: []scenarios.Step{prepare}, Repeat: 1}}
	if c.For("closed meanwhile", 0).Below(8) == 0 {
		at := s.times.Length(c.For("closed at", 0), 1, s.Base.Lock.NodeTimeout)
		items = append(items, scenarios.Item{When: faults.Trigger{At: at}, Client: client,
			Do: []scenarios.Step{{Kind: scenarios.CloseStep}, {Kind: scenarios.NewClientStep}}, Repeat: 1})
	}
	return items
}

// kinds are the kinds of faults that are drawn.
func (s Space) kinds() []faults.Kind {
	l := scenarios.Limits(s.Base, s.Beyond)
	l.Random = l.Random && s.Foreign == nil // a WebAssembly program ends for want of random bytes
	return slices.DeleteFunc(faults.Vocabulary(), func(k faults.Kind) bool { return !k.Applies(l) })
}

// stopped draws what stops a client that lingers between its look at the lease and its write; none now and then.
func (s Space) stopped(x *scenarios.Scenario, client string, c faults.Choices) []scenarios.Item {
	when := faults.Trigger{After: &faults.Moment{Event: faults.Checked, Client: client, Nth: int(1 + c.For("nth", 0).Below(2))}}
	stalls := stalls()
	n := c.For("kind", 0).Below(int64(1 + len(stalls)))
	if n == 0 {
		return nil
	}
	k := stalls[n-1]
	limits := s.about(x, when)
	limits.Focus = []string{client}
	f := k.Draw(c.For("fault", 0), limits)
	if f == nil {
		return nil
	}
	return []scenarios.Item{{When: when, Kind: k.Name, Fault: f}}
}

// stalls are the kinds of faults that make a client late between its look at the lease and its write, each as often as it
// says, those that happen to the client itself first.
var stalls = sync.OnceValue(func() (all []faults.Kind) {
	for _, k := range faults.Vocabulary() {
		for range k.Stalls {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b faults.Kind) int { return cmp.Compare(b.Target, a.Target) })
	return all
})

// Choices are those of a seed, by what they are drawn for.
func Choices(seed uint64, purpose string, number int) faults.Choices {
	return faults.Drawn{Key: kernel.Key(0).WithString("search").With(seed)}.For(purpose, number)
}
