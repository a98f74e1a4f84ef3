package checker

// Judge is a rule of a monitor; see package rules.
type Judge uint8

// The rules, by the files that they are in.
const (
	JudgeNumber Judge = iota
	JudgeDelays
	JudgeDrawn
	JudgeShortened
	JudgeAtomic
	JudgeEnds
	JudgeFailures
	JudgeWorks
	JudgeClosing
	JudgeReturns
	JudgeTelling
	JudgeReasons
	JudgeBelieved
	JudgeEndless
	JudgeCounters
	JudgeGuarded
	JudgeReplicated
	JudgeAnswers
	JudgePermits // this and the next are of semaphores
	JudgeLooks
	JudgePrograms
	judges
)

// Judges are their names, and what they judge, by their numbers.
var Judges = [judges]struct{ Name, What string }{
	JudgeNumber:     {"number-of-commands", "conduct: a command of a run that may have so many"},
	JudgeDelays:     {"delays", "conduct: an attempt of another lock after its first"},
	JudgeDrawn:      {"drawn-delays", "conduct: a delay of another lock before it asks again"},
	JudgeShortened:  {"key-times", "conduct: a change of a lock's key that keeps its value"},
	JudgeAtomic:     {"joint-changes", "conduct: a message that changed keys of a lock on several resources"},
	JudgeEnds:       {"lease-contexts", "contract: the context of a lease that was released, or whose time has come"},
	JudgeFailures:   {"errors", "contract: an error of the library, and what it says"},
	JudgeWorks:      {"works", "contract: work under a lock, and what its call returned"},
	JudgeClosing:    {"closes", "contract: a Close, and what it returned"},
	JudgeReturns:    {"returns", "contract: a call that is to return within a time"},
	JudgeTelling:    {"endings", "contract: a call that returned, and what its observer was told"},
	JudgeReasons:    {"reasons", "contract: what a call of another lock returned, and what the nodes did"},
	JudgeBelieved:   {"beliefs", "contract: a belief that ran out, and the end of its lease"},
	JudgeEndless:    {"endless-leases", "contract: a key of a lease without an end, and when it was renewed"},
	JudgeCounters:   {"counters", "contract: a grant with a fencing token, and what the nodes' counters say"},
	JudgeGuarded:    {"guarded-votes", "contract: a vote of a node under the restart guard"},
	JudgeReplicated: {"replicated", "contract: a lock that replicas have confirmed"},
	JudgeAnswers:    {"answers", "contract: what the library reports that a node answered"},
	JudgePermits:    {"permits-asked-for", "conduct: an attempt for a permit of a semaphore, or for all"},
	JudgeLooks:      {"looks-for-permits", "needlessly-unavailable: a call that waits for a permit, and when it looks for one"},
	JudgePrograms:   {"program-releases", "contract: what a lock program says of a release"},
}
