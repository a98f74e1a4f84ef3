// Package reach records what runs covered: which steps of the algorithm, faults, triggers, features and rules of the checker. A
// search that finds nothing says something about what it reached, and nothing about the rest.
//
// [Table] lists everything that can be reached. [Of] looks at one run, and [Counts] adds runs up.
package reach

import (
	"slices"
	"sync"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// Kind says what an entry is about.
type Kind string

// The kinds, in the order of the table.
const (
	// Step is a step of the library's algorithm, or a combination of steps.
	Step Kind = "step"
	// Fault is a kind of fault that was injected, and Effect one without which the same run was different.
	Fault  Kind = "fault"
	Effect Kind = "effect"
	// Trigger is a moment at which something was to happen, and which came.
	Trigger Kind = "trigger"
	// Rule is a rule of the checker that had something to compare.
	Rule Kind = "rule"
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Step, Fault, Effect, Trigger, Rule} }

// Feature is a part of the library that settings turn on.
type Feature string

// The features.
const (
	Fencing  Feature = "fencing"
	Guard    Feature = "restart guard"
	WakeUp   Feature = "wake-up"
	Batching Feature = "batching"
	Renewal  Feature = "renewal"
	Several  Feature = "several resources as one lock"
	Permits  Feature = "semaphores"
	// Checks is about the resource, not the library.
	Checks Feature = "a resource that goes by tokens, versions or marks"
)

func allFeatures() []Feature {
	return []Feature{Fencing, Guard, WakeUp, Batching, Renewal, Several, Permits, Checks}
}

// Entry is something that a run can reach.
type Entry struct {
	Kind Kind
	Name string
	// What describes it.
	What string
	// Feature is the feature that it belongs to; empty if every lock has it. Shows: reaching it shows that the feature was
	// used.
	Feature Feature
	Shows   bool
	// Never is why no scenario of the catalogue reaches it; empty if one does.
	Never string

	reached func(*look) bool
	// judged is how often a Rule had something to judge; nil for other kinds.
	judged func(*checker.Report) int
}

// Run is what is known of a run.
type Run struct {
	History history.History
	Counts  redis.Counts
	Report  *checker.Report
	Used    faults.Used
	// Blind: the resource refused writes that it could not have accepted, and compared nothing.
	Blind bool
	// Other: the protocol is not the library's, so most of its steps cannot be reached.
	Other bool
	// Injected and Fired are the kinds of the faults that were injected, and the events of the moments that came.
	Injected, Fired []string
	// Placed and Awaited are the same of all that were in the timeline.
	Placed, Awaited []string
}

// Table lists everything: the steps in the order of the paper, then faults, triggers and rules.
var Table = sync.OnceValue(func() []Entry {
	all := slices.Concat(algorithm(), features(), ofChecker())
	for _, k := range faults.Vocabulary() {
		all = append(all,
			Entry{Kind: Fault, Name: k.Name, What: "it was injected", reached: func(l *look) bool { return slices.Contains(l.Injected, k.Name) }},
			Entry{Kind: Effect, Name: k.Name, What: "the run is another one without it", reached: func(*look) bool { return false }})
	}
	for _, name := range moments() {
		all = append(all, Entry{Kind: Trigger, Name: name, What: "something was placed there, and it came",
			reached: func(l *look) bool { return slices.Contains(l.Fired, name) }})
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return slices.Index(Kinds(), a.Kind) - slices.Index(Kinds(), b.Kind) })
	return all
})

// moments are the events at which something can be placed.
func moments() []string {
	names := faults.EventNames()
	for _, s := range observe.Steps() {
		names = append(names, s.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// step is an entry for a step, with its name in the history; see read.
func step(name, what, is string) Entry {
	return Entry{Kind: Step, Name: name, What: what, reached: func(l *look) bool { return l.steps[is] }}
}

// algorithm are the steps of every lock of the library.
func algorithm() []Entry {
	return []Entry{
		step("granted", "a lock is granted", "granted"),
		step("granted-after-retry", "it is granted after an attempt that lost its quorum", "granted again"),
		step("refused-by-another", "a node votes no: another holds the key", "vote: held by another"),
		step("no-answer", "a node does not answer in time", "vote: timed out"),
		step("refused-connection", "a node cannot be reached", "vote: refused"),
		step("answer-after-the-decision", "an answer comes after the decision", "late"),
		step("quorum-lost", "an attempt can no longer reach its quorum", "quorum-lost"),
		step("split-votes", "an attempt has votes and others have them too, so that it has no quorum", "split votes"),
		step("too-late", "a quorum came, and no validity was left", "too late"),
		step("granted-after-too-late", "a lock is granted after an attempt of the same call that was too late", "granted after too late"),
		step("straggler-joins", "a late vote joins the lease", "joined"),
		step("straggler-taken-back", "a late vote is released again", "taken-back"),
		step("gave-up", "a call ends without a grant", "gave-up"),
		step("gave-up-in-flight", "a call gives up while its requests are under way", "gave up in flight"),
		step("served-in-the-client", "a caller is granted the lock that another call of its client asked for before", "served in turn"),
		step("closed", "a call ends because its client is closed", "ended: closed"),
		step("released", "a lock is released", "released"),
		step("release-unanswered", "a node does not answer a release in time", "release: timed out"),
		step("release-refused", "a node cannot be reached for a release", "release: refused"),
		step("released-again", "a lock is released that was released before", "ended: released"),
		step("release-not-confirmed", "no quorum confirms a release", "release not confirmed"),
		step("released-after-loss", "a release finds keys that are not its own any more", "release: not ours any more"),
		step("lease-ended", "a lease ends by the client's own clock", "lost"),
		step("extended", "a lease is extended", "extended"),
		step("extend-refused", "a node does not extend what it does not have", "extend: not ours any more"),
		step("extend-failed", "an extend does not reach its quorum", "not-extended"),
		{Kind: Step, Name: "unknown-script", What: "a node has forgotten a script and is sent it again", reached: func(l *look) bool { return l.Counts.UnknownScripts > 0 }},
		{Kind: Step, Name: "memory-lost", What: "a node comes back without all it knew", reached: func(l *look) bool {
			return slices.ContainsFunc(l.Used.Lost, func(l faults.Loss) bool { return l.By != faults.EvictedFrom })
		}},
	}
}

// features are the steps that settings turn on.
func features() []Entry {
	of := func(f Feature, shows bool, e Entry) Entry {
		e.Feature, e.Shows = f, shows
		return e
	}
	counted := func(name, what string, is func(*look) bool) Entry {
		return Entry{Kind: Step, Name: name, What: what, reached: is}
	}
	return []Entry{
		of(Fencing, true, step("token-granted", "a grant has a fencing token", "token granted")),
		of(Fencing, false, step("token-raised", "the counters are ahead, and a second round raises the token", "token-raised")),
		of(Fencing, false, step("vote-behind", "a node does not vote for a token that is not above its counter", "vote: ahead of the token")),
		of(Fencing, false, step("effect-refused", "the resource turns down an effect with an old token", "effect refused")),
		of(Fencing, false, counted("counter-lost", "a node loses a fencing counter", func(l *look) bool {
			return slices.ContainsFunc(l.Used.Lost, func(l faults.Loss) bool { return l.Counters })
		})),
		of(Guard, true, step("guard-refuses", "the restart guard keeps a node from voting", "vote: in quarantine")),
		of(Guard, false, step("quarantine-over", "a node votes again after its quarantine", "quarantine over")),
		of(WakeUp, true, counted("wake-up-received", "a waiting client is called by a release", func(l *look) bool { return l.Counts.Notified > 0 })),
		of(WakeUp, false, counted("wake-up-lost", "the message of a release is lost", func(l *look) bool { return l.Counts.Unheard > 0 })),
		of(Batching, true, counted("batch-shared", "several commands go to a node in one piece", func(l *look) bool { return l.Counts.Batches > 0 })),
		of(Renewal, true, step("renewed", "a lease is extended more than once", "extended again")),
		of(Renewal, false, step("renewal-failed", "a renewal does not reach its quorum, after others did", "not extended again")),
		of(Several, true, step("several-granted", "several resources are granted as one lock", "several granted")),
		of(Permits, true, counted("permit-granted", "a permit of a semaphore is granted", func(l *look) bool { return l.Report != nil && l.Report.Compared.Watched[checker.PermitGranted] > 0 })),
		of(Permits, true, counted("all-permits-held", "work is done under all permits of a semaphore", func(l *look) bool { return l.Report != nil && l.Report.Compared.Watched[checker.AllPermitsHeld] > 0 })),
		of(Permits, false, step("permit-refused", "a call for a permit ends without one", faults.NoPermit)),
		never("the resources of the catalogue go by what the locks give them",
			of(Checks, false, counted(refusedBlindly, "the resource refuses writes that carry no token, version or mark, and compares none", func(l *look) bool { return l.Blind }))),
	}
}

// refusedBlindly is the step at which a resource refuses what it could not have accepted.
const refusedBlindly = "refused-blindly"

// never says why no scenario reaches an entry.
func never(why string, e Entry) Entry {
	e.Never = why
	return e
}

// ofChecker are the rules of the checker, and those of package rules.
func ofChecker() []Entry {
	rule := func(name, what string, compared func(*checker.Report) int) Entry {
		return Entry{Kind: Rule, Name: name, What: what, judged: compared, reached: func(l *look) bool { return l.Report != nil && compared(l.Report) > 0 }}
	}
	count := func(name, what string, of func(*checker.Compared) int) Entry {
		return rule(name, what, func(r *checker.Report) int { return of(&r.Compared) })
	}
	each := func(name, what string, is func(*checker.Resource) bool) Entry {
		return rule(name, what, func(r *checker.Report) (n int) {
			for i := range r.Resources {
				if is(&r.Resources[i]) {
					n++
				}
			}
			return n
		})
	}
	compared := count("compared", "stale-write: a request with a token, version or mark, after an effect of another lock", func(c *checker.Compared) int { return c.Fenced })
	compared.Feature, compared.Shows = Checks, true
	all := []Entry{
		count("holds", "lease-overlap: holds of different clients on one resource", func(c *checker.Compared) int { return c.Holds }),
		count("contested", "lease-overlap: a client asked while another held the resource", func(c *checker.Compared) int { return c.Contested }),
		count("second-opinion", "porcupine answered about the same", func(c *checker.Compared) int { return c.SecondOpinions }),
		count("writes-after-others", "stale-write: a write after an effect of another grant", func(c *checker.Compared) int { return c.Successors }),
		count("late-writes", "stale-write: a write that came after its lease and after an effect of a later one", func(c *checker.Compared) int { return c.LateWrites }),
		compared,
		count("requests-of-the-holder", "holder-refused: a request of the holder with a token or mark", func(c *checker.Compared) int { return c.Rightful }),
		count("writes-and-expiry", "accepted-after-expiry: a write and the end of its lease", func(c *checker.Compared) int { return c.Expiries }),
		count("updates", "lost-update: two critical sections on one resource", func(c *checker.Compared) int { return c.Updates }),
		count("tokens-of-grants", "tokens: two grants on one resource", func(c *checker.Compared) int { return c.GrantTokens }),
		count("tokens-of-effects", "tokens: effects of two grants", func(c *checker.Compared) int { return c.EffectTokens }),
		each("waiting", "unavailable: somebody had to wait", func(r *checker.Resource) bool { return r.Unavailable.For > 0 }),
		each("takeover", "takeover: a holder was gone, and another asked", func(r *checker.Resource) bool { return r.Takeover.Process != "" }),
		each("after-healing", "recovery: somebody asked after the faults were healed", func(r *checker.Resource) bool { return r.AfterHealing.Process != "" }),
	}
	for _, r := range rules.Table {
		e := count(r.Name, string(r.Kind)+": "+r.Needs, func(c *checker.Compared) int { return c.Watched[r.Name] })
		switch r.Name {
		case "permits":
			e.Feature = Permits
		case "program-releases":
			e = never("the catalogue is not run with lock programs", e)
		}
		all = append(all, e)
	}
	return all
}
