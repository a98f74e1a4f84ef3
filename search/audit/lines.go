package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
	"redlocksim/search/remedies"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// line is an assumption: what attacks it, and along which setting.
type line struct {
	name string
	// applies says whether there is anything to ask; nil if always.
	applies func(*Answers) bool
	// extends: there is nothing to ask of a lock that cannot be extended, or extends itself.
	extends bool
	// renewed: there is nothing to ask of a lock that is not renewed.
	renewed bool
	// schedules attack it, and path is the setting that it rests on, of which safest and riskiest are the ends; without one
	// nothing but the schedules is tried.
	schedules        []string
	path             string
	safest, riskiest func(*scenarios.Scenario) string
	// yours is what was answered, in the world of the attack; nil if it rests on nothing but the library.
	yours func(a *Answers, world *scenarios.Scenario) string
	// besides is what the attack needs besides.
	besides func(world, answered *scenarios.Scenario)
	// lasting has the world of the lines that follow be as was answered.
	lasting func(world, answered *scenarios.Scenario)
	// says puts it into words: what happens beyond the limit, and what was answered.
	says func(l *limits) string
	// fixes are what could mend it, the smallest change first.
	fixes []fix
}

// answered is yours.
func (l *line) answered(a *Answers, world *scenarios.Scenario) string {
	if l.yours == nil {
		return "any"
	}
	return l.yours(a, world)
}

// limits are what a sentence is made of.
type limits struct {
	*Answers
	yours, holds, breaks string
	safest, riskiest     string // what was tried
	renews               bool   // the lock is renewed while the work goes on
	isReversed           bool   // what should be the safest breaks it, and what was answered does not
}

// fix is a change that could mend what is unsafe: a remedy, or something else that a file of answers can say.
type fix struct {
	remedies.Remedy
	// limit is the fix of keeping to the line's own limit, which is known. Where that is zero, positive says that nothing can
	// be kept to it: no clock is exact, and work takes time.
	limit, positive bool
	// clocks: it mends all that clocks do, so that it must do with their error as well, whether that is safe without it or not.
	clocks bool
	// otherwise: it is for a lock that nothing else mends; noTokens: for one that cannot give fencing tokens.
	otherwise, noTokens bool
	// library is what the file then says is the library; empty if it stays what it is. The changes are to its settings.
	library string
	// says is what a file of answers says then besides; empty if nothing.
	says string
}

func constant(word string) func(*scenarios.Scenario) string {
	return func(*scenarios.Scenario) string { return word }
}

// ttls is a multiple of the TTL, as far as a schedule takes it.
func ttls(n time.Duration) func(*scenarios.Scenario) string {
	return func(s *scenarios.Scenario) string { return tried(n * s.Lock.TTL) }
}

func tried(d time.Duration) string { return min(d, attacks.MaxLength).String() }

// allNodes is their number.
func allNodes(s *scenarios.Scenario) string { return fmt.Sprint(len(s.Nodes.Names)) }

var zeroRate = faults.Rate{}

// ourLibrary is the library of this project, which has all settings that fixes change.
const ourLibrary = "redlock"

// text is a fix that is nothing but words about what surrounds the lock, with a place for the limit.
func text(says string) remedies.Remedy { return remedies.Remedy{Text: says} }

// instead is another lock, such as that of our library, as the fix where no setting helps.
func instead(that string) fix {
	return fix{Remedy: text("no setting of this lock mends it: take one that " + that + ", such as library: redlock"), otherwise: true, library: ourLibrary}
}

// Fixes that several lines have, or that make of a remedy another lock.
var (
	allowance = fix{Remedy: remedies.Constant, clocks: true}
	factor    = fix{Remedy: remedies.Factor, clocks: true}
	quorum    = fix{Remedy: remedies.Quorum}
	guard     = fix{Remedy: remedies.Guard}
	later     = fix{Remedy: remedies.Later, limit: true}
	always    = fix{Remedy: remedies.Always}
	// allowing is for a lock that has no drift allowance, and allowingMore where the one that such a lock has anyway is not
	// enough.
	allowing     = fix{Remedy: text("take a lock that subtracts an allowance for the drift of clocks from the time it believes in, such as library: redlock"), otherwise: true, library: ourLibrary}
	allowingMore = fix{Remedy: worded(remedies.Constant, "take a lock that subtracts more for the drift of clocks, such as library: redlock with a constant of %s at least"),
		otherwise: true, clocks: true, library: ourLibrary}
	// another is for a lock that gives no tokens.
	another = fix{Remedy: remedies.Remedy{Text: "let the resource refuse older fencing tokens, which takes a lock that gives them, such as library: redlock; then pauses and delays of any length do no harm",
		Besides: remedies.Fencing.Besides}, noTokens: true, library: ourLibrary}
	noFailover = fix{Remedy: text("let no replica take over (failover: false)"), says: "failover: false"}
)

// worded is a remedy in other words.
func worded(r remedies.Remedy, says string) remedies.Remedy {
	r.Text = says
	return r
}

// budgeted is a line about a key of the budget: what was answered stands there, and stays so in the worlds of the lines that
// follow.
func budgeted[T any](key func(*faults.Budget) *T, l line) *line {
	l.yours = func(a *Answers, _ *scenarios.Scenario) string { return fmt.Sprint(*key(&a.Settings.Budget)) }
	l.lasting = func(w, s *scenarios.Scenario) { *key(&w.Budget) = *key(&s.Budget) }
	return &l
}

// isOfExclusion says whether a line is about mutual exclusion, and not about availability.
func (l *line) isOfExclusion() bool {
	found, _ := attacks.Find(l.schedules...)
	return slices.ContainsFunc(found, attacks.Attack.Exclusion)
}

// lines are all assumptions, in an order in which later attacks can rest on what the earlier ones found to be safe.
func lines() []*line {
	return slices.Concat([]*line{lostMessages}, clockLines(), nodeLines(), clientLines(), []*line{crash, lateExtension, lostExtension, lateRelease, betweenCommands, rounding, again})
}

// crash is about what a client leaves behind.
var crash = &line{name: "crash", schedules: []string{"crash"},
	says: either("a client that crashes, while it asks for the lock or has it, leaves nothing behind that lasts longer than the TTL",
		"a client that crashes while it asks for the lock leaves a key behind that never expires, as where one command sets it and another its time to live: nobody is granted the lock again"),
	fixes: []fix{instead("sets the key and its time to live in one command")},
}

// lateExtension rests on nothing but the library.
var lateExtension = &line{name: "late extension", schedules: []string{"late-extend"}, extends: true,
	says: either("extending a lock whose lease is over never takes it from another client",
		"a client that extends its lock when its lease is over takes it from the client that has it: look at the lease before you extend, which helps unless the client pauses in between"),
	fixes: []fix{instead("extends only what is its own")},
}

// lostExtension is about the messages of an extension, or of a renewal.
var lostExtension = &line{name: "lost extension", schedules: []string{"lost-extend"}, extends: true,
	says: either("an extension that reaches fewer nodes than a quorum gives a client no time in which another can have the lock",
		"a client believes in an extension that reached too few nodes, and another client is granted the lock by the others"),
	fixes: []fix{{Remedy: remedies.Extending}, instead("extends on a quorum")}}

// lateRelease is about a release that nothing but the value of the key keeps from letting go of what another client has.
var lateRelease = &line{name: "late release", schedules: []string{"late-release"},
	says: either("a release that reaches a node when its lease is over, late or by a slow network, never lets go of another client's lock",
		"a release that reaches a node when its lease is over, because the client or the network was slow, lets go of the lock of the client that has it by then"),
	fixes: []fix{{Remedy: remedies.Release}, instead("releases only what is its own")}}

// betweenCommands is about calls that are several commands, of which the first looks at the key. A client may pause in them for
// as long as was answered, whether its writes bear that or not.
var betweenCommands = &line{name: "between commands", schedules: []string{"between"},
	besides: func(w, s *scenarios.Scenario) { w.Budget.Pause = s.Budget.Pause },
	says: either("messages that are lost or late, and pauses of the client, at any command of a call never take the lock from another client",
		"a call is several commands, and what it does with the last of them no longer fits what it saw with the first: a message that is late, or a client that pauses in between, takes the lock from the client that has it by then"),
	fixes: []fix{{Remedy: remedies.Release}, {Remedy: remedies.Extending}, instead("does all of a call in one command, such as a script")}}

// rounding is about the unit in which the library counts, of a lock and of an extension.
var rounding = &line{name: "rounding", schedules: []string{"rounding"},
	says: either("a TTL that is no whole number of seconds lasts as long as it says",
		"keys do not last for a TTL that is no whole number of seconds, as where a library counts in seconds: ask for whole seconds only"),
	fixes: []fix{instead("counts in milliseconds")}}

// again is about what a library keeps from one lock to the next.
var again = &line{name: "second lock", schedules: []string{"again"}, renewed: true,
	says: either("each lock is renewed: also one that is taken again, after a release or a loss, and one beside which another is released",
		"a lock is not renewed that is taken again, after a release or a loss, or beside which another is released: its keys expire while its client has it"),
	fixes: []fix{instead("renews each of its locks by itself")}}

// lostMessages comes first: where it is unsafe, nothing else can be told.
var lostMessages = &line{name: "lost messages", schedules: []string{"clocks", "split"},
	says: either("messages that are lost, and clients that cannot reach some of the nodes, cost availability, never the lock",
		"the lock breaks although clocks are exact and no node restarts: it is enough that messages are lost, or that a client reaches only some of the nodes"),
	fixes: []fix{{Remedy: remedies.Watchdog}, {Remedy: remedies.ConnectTimeout}, quorum, instead("bears lost messages")}}

// clockLines are about clocks.
func clockLines() []*line {
	return []*line{
		budgeted(func(b *faults.Budget) *faults.Rate { return &b.ClockRate }, line{name: "clock error", schedules: []string{"clocks"}, path: "budget.clock-rate", safest: constant("0%"), riskiest: constant("20%"),
			says: upTo("clocks may run fast or slow by up to %s", "yours by up to %s",
				"clocks may run fast or slow by %s, the most that was tried", "the lock breaks even if clocks run at the right speed"),
			fixes: []fix{allowance, factor, allowing, allowingMore, {Remedy: text("keep clocks within %s"), limit: true, positive: true}}}),
		budgeted(func(b *faults.Budget) *time.Duration { return &b.ClockStep }, line{name: "clock step", schedules: []string{"clocks"}, path: "budget.clock-step", safest: constant("0s"), riskiest: ttls(2),
			says: func(l *limits) string {
				whose := "a node's wall clock"
				if l.Settings.Lock.Clock == kernel.WallClock {
					whose = "the wall clock of a node or of a client, which measures its lease with it,"
				}
				return upTo(whose+" may be stepped by up to %s", "yours by up to %s",
					whose+" may be stepped by %s, the most that was tried", "the lock breaks even if no clock is stepped")(l)
			},
			fixes: []fix{{Remedy: text("let no clock be stepped by more than %s: have the time daemon slew"), limit: true}, allowance, factor, {Remedy: remedies.Monotonic}}}),
		budgeted(func(b *faults.Budget) *time.Duration { return &b.Suspend }, line{name: "suspension", schedules: []string{"clocks"}, path: "budget.suspend", safest: constant("0s"), riskiest: ttls(4),
			applies: func(a *Answers) bool { return a.Settings.Budget.Suspend > 0 },
			says: upTo("a client's machine may be suspended for up to %s in all while it has a lock", "yours for up to %s",
				"a client's machine may be suspended for %s in all, the longest that was tried", "the lock breaks even if no machine is suspended"),
			fixes: []fix{{Remedy: remedies.Boottime}, {Remedy: text("suspend no machine of a client for more than %s in all while it has a lock"), limit: true}}}),
	}
}

// nodeLines are about what nodes forget.
func nodeLines() []*line {
	delay := func(a *Answers, _ *scenarios.Scenario) string { return restartDelay(a.Settings).String() }
	return []*line{
		{name: "killed process", schedules: []string{"restart"}, path: "budget.restart-delay", safest: ttls(3), riskiest: constant("0s"), yours: delay,
			besides: hurries,
			lasting: func(w, s *scenarios.Scenario) { w.Budget.RestartDelay = soonest(w, s) },
			says:    forgets("is killed"),
			fixes:   []fix{{Remedy: remedies.EverySecond}, later, guard}},
		{name: "power loss", schedules: []string{"restart"}, path: "budget.restart-delay", safest: ttls(3), riskiest: constant("0s"), yours: delay,
			applies: func(a *Answers) bool { return !a.Settings.Budget.NoPowerLoss },
			besides: func(w, s *scenarios.Scenario) {
				hurries(w, s)
				powerLoss(w, s)
			},
			lasting: func(w, s *scenarios.Scenario) {
				w.Budget.RestartDelay, w.Budget.NoPowerLoss = soonest(w, s), s.Budget.NoPowerLoss
			},
			says:  forgets("loses power"),
			fixes: []fix{later, always, guard}},
		budgeted(func(b *faults.Budget) *int { return &b.MemoryLoss }, line{name: "lost memory", schedules: []string{"memory-loss"}, path: "budget.memory-loss", safest: constant("0"), riskiest: allNodes,
			applies: func(a *Answers) bool { return a.Settings.Budget.MemoryLoss > 0 },
			besides: powerLoss,
			says: upTo("locks may be lost early, as by an eviction, which no disk and no restart guard prevents, on up to %s of the nodes", "you say on up to %s",
				"%s nodes, all there are, may lose their locks early", "the lock breaks even if no node loses its locks early"),
			fixes: []fix{quorum, {Remedy: text("keep the number of nodes that come back early, or evict locks, to %s at most (maxmemory-policy: noeviction)"), limit: true}}}),
		{name: "failover", schedules: []string{"failover"}, path: "budget.memory-loss", safest: constant("0"),
			riskiest: func(s *scenarios.Scenario) string {
				return fmt.Sprint(min(len(s.Nodes.Names), s.Budget.MemoryLoss+len(replicas(s))))
			},
			applies: func(a *Answers) bool { return a.Failover },
			// A failover is on top of what the nodes lose besides.
			yours: func(_ *Answers, w *scenarios.Scenario) string { return fmt.Sprint(w.Budget.MemoryLoss + 1) },
			lasting: func(w, _ *scenarios.Scenario) {
				w.Budget.MemoryLoss++
				w.Nodes.Replicas = replicas(w)
			},
			says: func(l *limits) string {
				switch {
				case l.breaks == "":
					return "a replica that takes over before it has received a lock does not break it"
				case l.holds == "0":
					return "a replica that takes over before it has received a lock grants it to another client: one such failover is enough"
				}
				return fmt.Sprintf("replicas that take over before they have received a lock grant it to another client: the lock survives %s of them at a time", l.holds)
			},
			fixes: []fix{noFailover, quorum}},
	}
}

// clientLines are about clients and the resource.
func clientLines() []*line {
	return []*line{
		{name: "fencing tokens", schedules: []string{"counters"}, path: "budget.counter-loss", safest: constant("0"), riskiest: allNodes,
			applies: func(a *Answers) bool { return protocols.Of[protocols.RedlockSettings](a.Settings.Lock).Fencing },
			yours: func(a *Answers, _ *scenarios.Scenario) string {
				promised := a.Settings.Budget.CounterLoss
				switch {
				case promised > 0:
				case (&attacks.Settings{Scenario: a.Settings}).LosesCounters(): // each node, sooner or later
					return allNodes(a.Settings)
				case a.Failover:
					return fmt.Sprint(len(replicas(a.Settings)))
				}
				return fmt.Sprint(promised)
			},
			besides: powerLoss,
			lasting: func(w, s *scenarios.Scenario) { w.Budget.CounterLoss = s.Budget.CounterLoss },
			says: func(l *limits) string {
				yours := l.yours + " of yours can, however long they stay away"
				if l.yours == "0" {
					yours = "none of yours does when it stops, and none is promised to be evicted"
				}
				if l.holds == "" || l.holds == "0" {
					return "tokens rise with every grant only as long as no node forgets its counter; " + yours
				}
				return fmt.Sprintf("tokens rise with every grant as long as the number of nodes that forget their counters is at most %s; %s", l.holds, yours)
			},
			fixes: []fix{{Remedy: remedies.EverySecond}, always, noFailover,
				quorum, {Remedy: text("keep the number of nodes that lose counters to evictions to %s at most (maxmemory-policy: noeviction)"), limit: true},
				{Remedy: remedies.Remedy{Text: "keep counters whatever happens: have nodes write to disk (persistence: always), let no replica take over (failover: false), and evict nothing (maxmemory-policy: noeviction)",
					Besides: func(*attacks.Settings, string) []string {
						return []string{"nodes.persistence=always", "budget.counter-loss=0"}
					}},
					says: "failover: false", otherwise: true}}},
		budgeted(func(b *faults.Budget) *time.Duration { return &b.Pause }, line{name: "pause", schedules: []string{"pause"}, path: "budget.pause", safest: constant("0s"), riskiest: ttls(4),
			says: func(l *limits) string {
				without := ""
				if l.Settings.Storage == storage.Fenced {
					without = ": the resource refuses its late writes, as long as fencing tokens rise"
				}
				return upTo("a client may pause for up to %s between its last look at the clock and its write", "yours for up to %s",
					"a client may pause for %s, the longest that was tried"+without,
					"a write can come too late without any pause: the message to the resource may take longer than what is left of the lease")(l)
			},
			fixes: []fix{{Remedy: remedies.GuardTime}, {Remedy: remedies.Fencing}, another}}),
		{name: "node timeout", schedules: []string{"timeout"}, path: "network.latency", safest: constant("0s"),
			riskiest: func(s *scenarios.Scenario) string {
				return tried(2*max(s.Lock.NodeTimeout, roundTripOf(s)) + 2*time.Second)
			},
			yours: func(a *Answers, _ *scenarios.Scenario) string { return roundTripOf(a.Settings).String() },
			besides: func(w, _ *scenarios.Scenario) {
				w.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(roundTripOf(w))}, Replies: &scenarios.Latency{}}
			},
			says: upTo("a round trip to a node may take up to %s, or nobody is granted the lock", "yours up to %s",
				"a round trip to a node may take %s, the longest that was tried", "no round trip is short enough for the lock to be granted"),
			fixes: []fix{{Remedy: remedies.NodeTimeout}, {Remedy: text("keep round trips within %s"), limit: true, positive: true}}},
		{name: "work", schedules: []string{"work"}, path: attacks.Work, safest: constant("0s"), riskiest: ttls(2),
			applies: func(a *Answers) bool { return a.Work > 0 },
			yours:   func(a *Answers, _ *scenarios.Scenario) string { return a.Work.String() },
			says: func(l *limits) string {
				after := ""
				if l.renews {
					after = ", for it is renewed"
				}
				return upTo("the work may take up to %s, or the lease is over first"+after, "yours up to %s",
					"the lock lasts for work of %s, the longest that was tried"+after, "there is no time for any work under the lock")(l)
			},
			fixes: []fix{{Remedy: text("renew the lock while the work goes on (renews: true)"), says: "renews: true"},
				{Remedy: remedies.Remedy{Text: "renew the lock while the work goes on (renews: true), as often as that takes", Key: "lock.renewals",
					Besides: func(s *attacks.Settings, _ string) []string {
						return []string{fmt.Sprintf("lock.renewals=%d", 4*s.Work/s.Lock.TTL+1)}
					}},
					says: "renews: true", otherwise: true},
				{Remedy: remedies.TTL}, {Remedy: text("keep the work under %s"), limit: true, positive: true}}},
	}
}

// replicas are those that can take over: those of the settings, or else one of each node.
func replicas(s *scenarios.Scenario) []strictyaml.Entry[[]string] {
	if len(s.Nodes.Replicas) > 0 {
		return s.Nodes.Replicas
	}
	var all []strictyaml.Entry[[]string]
	for _, node := range s.Nodes.Names {
		all = append(all, strictyaml.Entry[[]string]{Key: node, Value: []string{node + "-replica"}})
	}
	return all
}

// hurries has messages take no time at the least, and clocks be as wrong as they are even if that is unsafe by itself. How long
// a node must stay away rests on how slow the holder's clock is, and is not to rest on how slow messages are.
func hurries(w, answered *scenarios.Scenario) {
	w.Budget.ClockRate = answered.Budget.ClockRate
	w.Network.Latency.Latency = network.Uniform(0, w.Network.Latency.Max())
	if r := w.Network.Replies; r != nil {
		w.Network.Replies = &scenarios.Latency{Latency: network.Uniform(0, r.Max())}
	}
}

// powerLoss lets nodes lose power if that was answered.
func powerLoss(world, answered *scenarios.Scenario) {
	world.Budget.NoPowerLoss = answered.Budget.NoPowerLoss
}

// forgets puts it into words that a node forgets what it voted for, or why it does not.
func forgets(what string) func(l *limits) string {
	return func(l *limits) string {
		switch {
		case l.breaks == "":
			return "a node that " + what + " does not break the lock" + whyNot(l.Settings)
		case l.holds == "":
			return fmt.Sprintf("a node that %s and comes back without its memory breaks the lock, even %s later", what, l.safest)
		}
		return fmt.Sprintf("a node that %s must stay away for %s%s; yours are back after %s at the soonest", what, l.holds, counted(l), l.yours)
	}
}

// counted says what a restart delay is counted from, and how it comes of the TTL.
func counted(l *limits) string {
	ttl, from := l.Settings.Lock.TTL, ", counted from the crash"
	delay, err := time.ParseDuration(l.holds)
	switch {
	case err != nil || delay > ttl:
		return fmt.Sprintf("%s: more than the TTL of %v, for the clock of the lock's holder may be slow or set", from, ttl)
	case delay == ttl:
		return fmt.Sprintf("%s: the TTL", from)
	}
	return fmt.Sprintf("%s: the TTL of %v less only what the holder allows for the drift of clocks", from, ttl)
}

// whyNot is why a node that stops does no harm, if that is known.
func whyNot(s *scenarios.Scenario) string {
	switch {
	case protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil:
		return ": under the restart guard it does not vote until the locks it forgot are over"
	case s.Nodes.Persistence == redis.Always:
		return ": it writes each vote to disk before it answers"
	case s.Nodes.Persistence == redis.EverySecond:
		return ": an append-only file, however seldom it is fsynced, survives the process"
	}
	return ""
}

// either is one of two sentences: of a lock that holds, or of one that breaks.
func either(holds, breaks string) func(l *limits) string {
	return func(l *limits) string {
		if l.breaks == "" {
			return holds
		}
		return breaks
	}
}

// upTo puts a limit into words: may has a place for it, yours for what was answered, and any for the end that was tried.
// never is what happens at once.
func upTo(may, yours, any, never string) func(l *limits) string {
	return func(l *limits) string {
		yours := fmt.Sprintf(yours, l.yours)
		isNone := l.yours == "0s" || l.yours == "0%"
		if of, _, ok := strings.Cut(yours, " "); ok && isNone {
			yours = of + " not at all"
		}
		switch {
		case l.breaks == "":
			return fmt.Sprintf(any, l.riskiest) + "; " + yours
		case l.holds == "" && isNone:
			return never
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
func beyond(a *Answers) []string {
	s := a.Settings
	var all []string
	if s.Storage != storage.Fenced {
		all = append(all, "A client that pauses for longer than it stops writing before its lease ends, or whose write is delayed for longer, writes after another client has the lock. No setting prevents that, only a resource that refuses older fencing tokens (scenarios 32 to 34).")
	}
	all = append(all, "A node whose clock somebody sets, or whose disk is lost or restored, forgets what it voted for, whatever its settings (scenarios 17 and 24).")
	if s.Nodes.Persistence == redis.EverySecond && !s.Budget.NoPowerLoss {
		all = append(all, "With appendfsync everysec, a machine that loses power loses a second and more of what it had written.")
	}
	if IsProgram(a.Library) {
		all = append(all, "A lock program was attacked as it is: settings that it does not read make no difference to it.")
	}
	return all
}
