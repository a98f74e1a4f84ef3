package audit

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sweep"
)

// line is an assumption: what attacks it, and along which setting.
type line struct {
	name string
	// applies says whether there is anything to ask; nil if always.
	applies func(*Answers) bool
	// schedule attacks it, and path is the setting that it rests on, of which safest and riskiest are the ends.
	schedule, path   string
	safest, riskiest func(*scenarios.Scenario) string
	// yours is what was answered.
	yours func(*Answers) string
	// besides is what the attack needs besides.
	besides func(*scenarios.Scenario)
	// lasting has the world of the lines that follow be as was answered.
	lasting func(world, answered *scenarios.Scenario)
	// says puts it into words: what happens beyond the limit, and what was answered.
	says func(l *limits) string
	// fixes are what could mend it, the smallest change first.
	fixes []fix
}

// limits are what a sentence is made of.
type limits struct {
	*Answers
	yours, holds, breaks string
}

// fix is a change that could mend what is unsafe.
type fix struct {
	// text says it, with a place for the value.
	text string
	// path is a setting to look for the smallest value of, up to what most gives; without one the changes are tried as they
	// are.
	path    string
	most    func(*scenarios.Scenario) string
	changes func(*scenarios.Scenario) []string
	// limit is the fix of keeping to the line's own limit, which is known.
	limit bool
}

func constant(word string) func(*scenarios.Scenario) string {
	return func(*scenarios.Scenario) string { return word }
}

// ttls is a multiple of the TTL.
func ttls(n time.Duration) func(*scenarios.Scenario) string {
	return func(s *scenarios.Scenario) string { return (n * s.Lock.TTL).String() }
}

var zeroRate = faults.Rate{}

// allowance is the fix of a larger drift allowance.
var allowance = fix{text: "subtract more from the validity for the drift of clocks, a constant %s at least (lock.drift.constant)", path: "lock.drift.constant",
	most: func(s *scenarios.Scenario) string { return (s.Lock.TTL * 9 / 10).Truncate(time.Millisecond).String() }}

// lines are all assumptions, in an order in which later attacks can rest on what the earlier ones found to be safe.
func lines() []*line {
	forgets := func(what, without string) func(l *limits) string {
		return func(l *limits) string {
			back := "yours are back after " + l.yours + " at the soonest"
			switch {
			case l.breaks == "":
				return fmt.Sprintf("a node that %s keeps what the lock rests on (%s)", what, without)
			case l.holds == "":
				return fmt.Sprintf("a node that %s and comes back without its memory breaks the lock, however long it stays away", what)
			}
			return fmt.Sprintf("TTL %v: a node that %s and is back before %s can break the lock; %s", l.Settings.Lock.TTL, what, l.holds, back)
		}
	}
	delay := func(a *Answers) string { return restartDelay(a.Settings).String() }
	later := fix{text: "bring a node back no sooner than %s after it stopped", limit: true}
	guard := fix{text: "turn on the restart guard, with which a node that lost its memory does not vote (lock.guard)",
		changes: func(s *scenarios.Scenario) []string {
			return []string{"lock.guard={max-ttl: " + s.Lock.TTL.String() + "}"}
		}}
	writes := func(how string) fix {
		return fix{text: "have nodes write to disk: appendfsync " + how + " (nodes.persistence)",
			changes: func(*scenarios.Scenario) []string { return []string{"nodes.persistence=" + how} }}
	}
	fencing := fix{text: "fence the resource: it refuses what comes with an older fencing token (lock.fencing), which helps against pauses and delays of any length",
		changes: func(*scenarios.Scenario) []string { return []string{"lock.fencing=true", "storage=fenced"} }}
	return []*line{
		{name: "clock error", schedule: "clocks", path: "budget.clock-rate", safest: constant("0%"), riskiest: constant("20%"),
			yours:   func(a *Answers) string { return a.Settings.Budget.ClockRate.String() },
			lasting: func(w, s *scenarios.Scenario) { w.Budget.ClockRate = s.Budget.ClockRate },
			says:    upTo("clocks may be fast or slow by up to %s", "yours are within %s", "clocks may be as fast or slow as was tried", "clocks must be exact"),
			fixes:   []fix{allowance, {text: "keep clocks within %s", limit: true}}},
		{name: "clock step", schedule: "clocks", path: "budget.clock-step", safest: constant("0s"), riskiest: ttls(2),
			yours:   func(a *Answers) string { return a.Settings.Budget.ClockStep.String() },
			lasting: func(w, s *scenarios.Scenario) { w.Budget.ClockStep = s.Budget.ClockStep },
			says:    upTo("a node's wall clock may be stepped by up to %s", "yours are stepped by up to %s", "a node's wall clock may be stepped as far as was tried", "a node's wall clock must not be stepped"),
			fixes:   []fix{{text: "let no clock of a node be stepped by more than %s: have the time daemon slew", limit: true}, allowance}},
		{name: "suspension", schedule: "clocks", path: "budget.suspend", safest: constant("0s"), riskiest: ttls(4),
			applies: func(a *Answers) bool { return a.Settings.Budget.Suspend > 0 },
			yours:   func(a *Answers) string { return a.Settings.Budget.Suspend.String() },
			lasting: func(w, s *scenarios.Scenario) { w.Budget.Suspend = s.Budget.Suspend },
			says:    upTo("a client's machine may be suspended for up to %s", "yours are for up to %s", "a client's machine may be suspended for as long as was tried", "a client's machine must not be suspended"),
			fixes: []fix{{text: "measure leases with a clock that counts suspensions (lock.clock: boottime)", changes: func(*scenarios.Scenario) []string { return []string{"lock.clock=boottime"} }},
				{text: "suspend no machine of a client for more than %s", limit: true}}},
		{name: "killed process", schedule: "restart", path: "budget.restart-delay", safest: ttls(3), riskiest: constant("0s"), yours: delay,
			lasting: func(w, s *scenarios.Scenario) { w.Budget.RestartDelay = soonest(w, s) },
			says:    forgets("is killed", "an append-only file, however seldom it is fsynced, survives the process"),
			fixes:   []fix{writes("everysec"), later, guard}},
		{name: "power loss", schedule: "restart", path: "budget.restart-delay", safest: ttls(3), riskiest: constant("0s"), yours: delay,
			applies: func(a *Answers) bool { return !a.Settings.Budget.NoPowerLoss },
			besides: func(s *scenarios.Scenario) { s.Budget.NoPowerLoss = false },
			lasting: func(w, s *scenarios.Scenario) {
				w.Budget.RestartDelay, w.Budget.NoPowerLoss = soonest(w, s), s.Budget.NoPowerLoss
			},
			says:  forgets("loses power", "appendfsync always"),
			fixes: []fix{later, writes("always"), guard}},
		{name: "nodes back early", schedule: "memory-loss", path: "budget.memory-loss", safest: constant("0"),
			riskiest: func(s *scenarios.Scenario) string { return fmt.Sprint(len(s.Nodes.Names)) },
			applies:  func(a *Answers) bool { return a.Settings.Budget.MemoryLoss > 0 },
			yours:    func(a *Answers) string { return fmt.Sprint(a.Settings.Budget.MemoryLoss) },
			besides:  func(s *scenarios.Scenario) { s.Budget.NoPowerLoss = false },
			lasting:  func(w, s *scenarios.Scenario) { w.Budget.MemoryLoss = s.Budget.MemoryLoss },
			says:     upTo("as many nodes may come back early without their memory as %s", "of yours %s may", "all nodes may come back early", "no node may come back early without its memory"),
			fixes:    []fix{{text: "ask for a higher quorum, %s (lock.quorum)", path: "lock.quorum", most: func(s *scenarios.Scenario) string { return fmt.Sprint(len(s.Nodes.Names)) }}, writes("always"), guard}},
		{name: "failover", schedule: "failover", path: "budget.memory-loss", safest: constant("0"),
			riskiest: func(s *scenarios.Scenario) string { return fmt.Sprint(len(s.Nodes.Names)) },
			applies:  func(a *Answers) bool { return a.Failover },
			yours:    func(*Answers) string { return "1" },
			lasting:  func(w, _ *scenarios.Scenario) { w.Budget.MemoryLoss++ },
			says: func(l *limits) string {
				switch {
				case l.breaks == "":
					return "a replica that takes over before it has received a lock does not break it"
				case l.holds == "0":
					return "a replica that takes over before it has received a lock votes for another client: one is enough"
				}
				return fmt.Sprintf("replicas that take over before they have received a lock vote for another client: the lock holds with %s of them at a time", l.holds)
			},
			fixes: []fix{{text: "let no replica take over: a node that stays down costs only its vote", limit: true},
				{text: "ask for a higher quorum, %s (lock.quorum)", path: "lock.quorum", most: func(s *scenarios.Scenario) string { return fmt.Sprint(len(s.Nodes.Names)) }}}},
		{name: "pause", schedule: "pause", path: "budget.pause", safest: constant("0s"), riskiest: ttls(4),
			yours:   func(a *Answers) string { return a.Settings.Budget.Pause.String() },
			lasting: func(w, s *scenarios.Scenario) { w.Budget.Pause = s.Budget.Pause },
			says: upTo("a client may pause for up to %s between its last look at the clock and its write", "yours pause for up to %s",
				"a client may pause for as long as was tried: the resource refuses its late writes", "a write can come too late without any pause: the message to the resource may take longer than what is left of the lease"),
			fixes: []fix{{text: "stop writing %s before the lease ends (lock.guard-time)", path: "lock.guard-time",
				most: func(s *scenarios.Scenario) string { return (s.Lock.TTL * 9 / 10).Truncate(time.Millisecond).String() }}, fencing}},
		{name: "node timeout", schedule: "timeout", path: "network.latency", safest: constant("0s"),
			riskiest: func(s *scenarios.Scenario) string { return (2*s.Lock.NodeTimeout + 2*time.Second).String() },
			yours:    func(a *Answers) string { return roundTripOf(a.Settings).String() },
			besides: func(s *scenarios.Scenario) {
				s.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(roundTripOf(s))}, Replies: &scenarios.Latency{}}
			},
			says: upTo("a round trip may take up to %s, or nobody is granted the lock", "yours take up to %s", "a round trip may take as long as was tried", "no round trip is short enough for the lock to be granted"),
			fixes: []fix{{text: "wait %s at least for a node's answer (lock.node-timeout)", path: "lock.node-timeout",
				most: func(s *scenarios.Scenario) string { return (4*roundTripOf(s) + time.Second).String() }}}},
		{name: "work", schedule: "work", path: sweep.Work, safest: constant("0s"), riskiest: ttls(2),
			applies: func(a *Answers) bool { return a.Work > 0 },
			yours:   func(a *Answers) string { return a.Work.String() },
			says:    upTo("the work may take up to %s, or the lease is over first", "yours takes up to %s", "the work may take as long as was tried", "there is no time for any work under the lock"),
			fixes: []fix{{text: "lock for %s at least (lock.ttl), or renew the lock while the work goes on", path: "lock.ttl",
				most: func(s *scenarios.Scenario) string { return (4*s.Lock.TTL + time.Minute).String() }}}},
	}
}

// upTo puts a limit into words: may has a place for it, and yours for what was answered. any says that there is none, and never
// what happens at once.
func upTo(may, yours, any, never string) func(l *limits) string {
	return func(l *limits) string {
		switch yours := fmt.Sprintf(yours, l.yours); {
		case l.breaks == "":
			return any + "; " + yours
		case l.holds == "":
			return never + "; " + yours
		default:
			return fmt.Sprintf(may, l.holds) + "; " + yours
		}
	}
}

// restartDelay is how soon a node is back at the soonest.
func restartDelay(s *scenarios.Scenario) time.Duration {
	if s.Budget.RestartDelay == nil {
		return 0
	}
	return *s.Budget.RestartDelay
}

// soonest is the shorter restart delay of two worlds.
func soonest(w, s *scenarios.Scenario) *time.Duration {
	d := restartDelay(s)
	if w.Budget.RestartDelay != nil {
		d = min(d, *w.Budget.RestartDelay)
	}
	return &d
}

// roundTripOf is the longest round trip to a node.
func roundTripOf(s *scenarios.Scenario) time.Duration {
	if s.Network.Replies == nil {
		return 2 * s.Network.Latency.Max()
	}
	return s.Network.Latency.Max() + s.Network.Replies.Max()
}

// beyond is what no setting mends, and what does.
func beyond(a *Audit) []string {
	s := a.Answers.Settings
	all := []string{
		"A client that is paused, or whose write is delayed, for longer than its guard time writes after its lease is over. No setting prevents that, only a resource that refuses older fencing tokens (scenarios 32 to 34).",
		"A node whose clock somebody sets, or whose disk is lost or restored, forgets what it voted for, whatever its settings (scenarios 17 and 24).",
	}
	if s.Nodes.Persistence == redis.EverySecond {
		all = append(all, "appendfsync everysec loses up to a second and more of what was written when a machine loses power.")
	}
	if protocols.Of[protocols.RedlockSettings](s.Lock).Fencing {
		all = append(all, "Fencing tokens rise only as long as no node loses its counter (docs/guarantees.md).")
	}
	if IsProgram(a.Answers.Library) {
		all = append(all, "A lock program was attacked as it is: settings that it does not read make no difference to it.")
	}
	return all
}
