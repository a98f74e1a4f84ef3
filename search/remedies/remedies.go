// Package remedies is the settings that may mend a lock, and how the least value of one is found that does. Whether it does,
// those say who read the table: an audit by its worst attacks, and run --why by the run that is explained.
package remedies

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/frontier"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// Remedy is a change of a lock's settings.
type Remedy struct {
	// Name names changes of the same kind.
	Name string
	// Text says it to somebody who has the lock, with %s in the place of the value if there is one, and More is what else there
	// is to say where it helps. Key is what it changes; empty if the text is enough.
	Text, More, Key string
	// Path is the setting of which the least value is looked for, between two words; without one there is nothing to look for.
	Path     string
	From, To func(*attacks.Settings) string
	// Besides are the settings that it takes besides, in the form lock.ttl=5s, or that are all of it. Nil if there are none.
	Besides func(s *attacks.Settings, value string) []string
	// Unless is a setting that makes it needless, if the lock has it.
	Unless string
}

// Settings are those of the remedy, with a value if it has one: the setting that has it comes last.
func (r *Remedy) Settings(s *attacks.Settings, value string) []variant.Setting {
	var all []variant.Setting
	if r.Besides != nil {
		for _, text := range r.Besides(s, value) {
			setting, err := variant.ParseSetting(text)
			if err != nil {
				panic(err) // they are ours
			}
			all = append(all, setting)
		}
	}
	if r.Path != "" {
		all = append(all, variant.Setting{Path: r.Path, Word: value})
	}
	return all
}

// Scale is the values of a remedy that can be tried: from a word on, unless that is empty.
func (r *Remedy) Scale(s *attacks.Settings, from string) variant.Scale {
	least := variant.ParseValue(r.From(s))
	step := least.Unit.Step()
	if r.Path == ttlPath {
		step = least.Number
	}
	if from != "" {
		least = variant.ParseValue(from)
	}
	return variant.NewScale(least, variant.ParseValue(r.To(s)), step)
}

// Least is the word of the value nearest to the first of a scale that is good, of those whose neighbours and those a twentieth
// nearer are not; empty if there is none. It begins at a guess, unless that is empty.
func Least(s variant.Scale, guess string, isGood func(word string) (bool, error)) (string, error) {
	begin := int64(-1)
	if guess != "" {
		begin = s.Index(variant.ParseValue(guess))
	}
	nearer := func(i int64) int64 { return i - s.At(i).Number.Div(decimal.NewFromInt(20)).Div(s.Step.Abs()).IntPart() }
	at, err := frontier.Least(s.Last, begin, nearer, func(i int64) (bool, error) { return isGood(s.At(i).Word) })
	if at < 0 || err != nil {
		return "", err
	}
	return s.At(at).Word, nil
}

// ttlPath is the setting that some locks take in whole seconds only.
const ttlPath = "lock.ttl"

func word(text string) func(*attacks.Settings) string {
	return func(*attacks.Settings) string { return text }
}

func to(settings ...string) func(*attacks.Settings, string) []string {
	return func(*attacks.Settings, string) []string { return settings }
}

// nineTenths are those of the TTL.
func nineTenths(s *attacks.Settings) string {
	return (s.Lock.TTL * 9 / 10).Truncate(time.Millisecond).String()
}

// tried is a time, as far as a schedule takes it.
func tried(d time.Duration) string { return min(d, attacks.MaxLength).String() }

// shortest is the least time to live that a lock takes: a millisecond or, if it takes whole seconds only, one.
func shortest(s *attacks.Settings) string {
	lock := s.Lock
	if lock.TTL = time.Minute + time.Millisecond; lock.Check(len(s.Nodes.Names)) != nil && lock.Capabilities().Unit == time.Second {
		return "1s"
	}
	return "1ms"
}

// The remedies.
var (
	Fencing = Remedy{Name: "fencing", Text: "fence the resource: have it refuse what comes with an older fencing token",
		More: ", which helps against pauses and delays of any length", Key: "fencing: true", Besides: to("lock.fencing=true", "storage=fenced")}
	Guard = Remedy{Name: "guard", Text: "turn on the restart guard", More: ", with which a node that lost its memory does not vote until the locks it forgot are over, whatever its clock says",
		Key: "lock.guard", Besides: func(s *attacks.Settings, _ string) []string {
			return []string{"lock.guard={max-ttl: " + s.Lock.TTL.String() + ", trust-node-clock: false}"}
		}}
	GuardTime = Remedy{Name: "guard-time", Text: "stop writing %s before the lease ends", Key: "lock.guard-time", Path: "lock.guard-time", From: word("0s"), To: nineTenths}
	Later     = Remedy{Name: "restart", Text: "keep a node down for %s at least, counted from the moment it stopped",
		More: "; for good measure a little more than the longest TTL, as the Redis documentation recommends", Path: "budget.restart-delay",
		From: func(s *attacks.Settings) string { return tried(s.Lock.TTL) }, To: func(s *attacks.Settings) string { return tried(3 * s.Lock.TTL) }}
	Constant = Remedy{Name: "drift", Text: "subtract more from the validity for the drift of clocks, a constant %s at least", Key: "lock.drift.constant", Path: "lock.drift.constant",
		From: word("0s"), To: nineTenths}
	Factor = Remedy{Name: "drift", Text: "subtract more from the validity for the drift of clocks, %s of the TTL at least", Key: "lock.drift.factor", Path: "lock.drift.factor",
		From: word("0%"), To: word("90%"), Unless: "drift.constant"}
	Quorum = Remedy{Name: "quorum", Text: "require %s votes", Key: "lock.quorum", Path: "lock.quorum",
		From: func(s *attacks.Settings) string { return fmt.Sprint(len(s.Nodes.Names)/2 + 1) }, To: func(s *attacks.Settings) string { return fmt.Sprint(len(s.Nodes.Names)) }}
	TTL = Remedy{Name: "ttl", Text: "lock for %s at least", Key: ttlPath, Path: ttlPath, From: shortest,
		To: func(s *attacks.Settings) string { return tried(4*max(s.Lock.TTL, s.Work) + time.Minute) },
		Besides: func(s *attacks.Settings, value string) []string {
			if protocols.Of[protocols.RedlockSettings](s.Lock).Guard == nil {
				return nil
			}
			return []string{"lock.guard.max-ttl=" + value}
		}}
	NodeTimeout = Remedy{Name: "lock.node-timeout", Text: "wait for a node's answer for %s at least", Key: "lock.node-timeout", Path: "lock.node-timeout", From: word("1ms"),
		To: func(s *attacks.Settings) string { return tried(4*(s.Requests().Max()+s.Replies().Max()) + time.Second) }}
	EverySecond = Remedy{Name: "nodes.persistence", Text: "have nodes write to disk: appendfsync everysec", Key: "persistence: everysec", Besides: to("nodes.persistence=everysec")}
	Always      = Remedy{Name: "nodes.persistence", Text: "have nodes write to disk: appendfsync always", Key: "persistence: always", Besides: to("nodes.persistence=always")}
	Monotonic   = Remedy{Name: "lock.clock", Text: "measure leases with a clock that nobody steps", Key: "lock.clock: monotonic", Besides: to("lock.clock=monotonic")}
	Boottime    = Remedy{Name: "lock.clock", Text: "measure leases with a clock that counts suspensions", Key: "lock.clock: boottime", Besides: to("lock.clock=boottime")}
	Extending   = Remedy{Name: "lock.extending", Text: "count an extension only if a quorum of nodes has made it", Key: "lock.extending: quorum", Besides: to("lock.extending=quorum")}
	Release     = Remedy{Name: "lock.release", Text: "release by a script that deletes the key only if it has the client's value", Key: "lock.release: cad", Besides: to("lock.release=cad")}
	Watchdog    = Remedy{Name: "lock.watchdog", Text: "have no watchdog renew the lock", More: ", whose failure the holder is not told of: give it a lease time",
		Key: "lock.watchdog: false", Besides: to("lock.watchdog=false")}
	ConnectTimeout = Remedy{Name: "lock.connect-timeout", Text: "wait for every node instead of leaving out those that do not answer in time",
		Key: "lock.connect-timeout: 0s", Besides: to("lock.connect-timeout=0s")}
)

// All are the remedies, in the order in which they are told.
func All() []Remedy {
	return []Remedy{Fencing, Guard, GuardTime, Later, Constant, Factor, Quorum, TTL, NodeTimeout, EverySecond, Always, Monotonic, Boottime, Extending, Release,
		Watchdog, ConnectTimeout}
}
