package monitor

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// quarantines judges when the quarantine of a node ends: with a vote that is asked for by a client that has watched this very
// quarantine for the largest TTL, by the client's clock, when as much has passed by the node's. It ends then, and no sooner.
type quarantines struct {
	run         *Run
	maxTTL      time.Duration
	trustsNodes bool
	asked       map[exchange]*voting
	vigils      map[pair]vigil
}

// exchange is what a client sends a node at one time.
type exchange struct {
	pair
	sent kernel.True
}

// voting is an exchange with which a client asks for votes.
type voting struct {
	// declares says that the client also declares the node fit to vote, at the same time.
	declares bool
	at       time.Time     // by the client's clock
	there    time.Duration // by the node's, when it was there
	record   string        // of the guard, on the node, when it was there
	// isMixed says that votes of the exchange found different records: which answer tells of which, nobody knows.
	isMixed bool
}

// vigil is how long a client has watched a quarantine.
type vigil struct {
	record   string
	from, by time.Time // when it can have begun, and when it must have
	// vague are the records that answers told of which came in part: what the client knows from those, nobody knows. isVague
	// says that it may be any record.
	vague   []string
	isVague bool
}

func watchQuarantines(r *Run) {
	// What code that takes time reads of an answer, and when, is not known well enough, and a wall clock can be stepped while a
	// command waits to be sent.
	if !r.isLibrary() || r.StepTime > 0 || r.Lock.Clock == kernel.WallClock || !isGuarded(r) || len(r.World.Replicas) > 0 {
		return
	}
	own := protocols.Of[protocols.RedlockSettings](r.Lock).Guard
	x := &quarantines{run: r, maxTTL: own.MaxTTL, trustsNodes: own.TrustNodeClock, asked: map[exchange]*voting{}, vigils: map[pair]vigil{}}
	r.onCommand(x.passes, redis.Sent, redis.Arrived, redis.Answered)
	r.onApplied = append(r.onApplied, x.applied)
}

// passes takes a command on its way.
func (x *quarantines) passes(at redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Sets || x.run.clients.number(a.Client.Name()) > 0 { // which of them asks, nobody knows
		return
	}
	of, declares := exchange{pair{a.Client, a.Server}, a.Sent}, len(a.Keys) == 1 && a.Keys[0] == driver.GuardKey
	this := x.asked[of]
	if at == redis.Sent {
		if this == nil {
			this = &voting{at: a.Client.ProgramClock().Now()}
			x.asked[of] = this
		}
		this.declares = this.declares || declares
		return
	}
	if this == nil || declares {
		return
	}
	switch at {
	case redis.Arrived:
		record, _, _ := a.Server.Observable().Peek(driver.GuardKey)
		this.isMixed = this.isMixed || this.there != 0 && this.record != record.Value
		this.there, this.record = time.Duration(a.Server.Clock().Wall().Milliseconds())*time.Millisecond, record.Value
	case redis.Answered:
		x.answered(of.pair, this, a)
	}
}

// applied takes a change of a record, which a vote may have made.
func (x *quarantines) applied(a *redis.Applied) {
	of := exchange{pair{a.Client, a.Server}, a.Sent}
	this := x.asked[of]
	if a.Key != driver.GuardKey || this == nil || x.run.clients.number(a.Client.Name()) > 0 {
		return
	}
	was, is, v := parseGuard(a.Before.Value).since, parseGuard(a.After.Value).since, x.vigils[of.pair]
	if was > 0 && is == 0 {
		x.run.Judged[checker.JudgeQuarantines]++
	}
	if was > 0 && is == 0 && !this.declares && !x.trustsNodes && !v.isVague && !slices.Contains(v.vague, a.Before.Value) && (v.record != a.Before.Value || this.at.Sub(v.from) < x.maxTTL) {
		x.run.broken(checker.Contract, x.run.Resources[0], "%s ends the quarantine of %s, and has not watched it for %v", a.Client.Name(), a.Server.Name(), x.maxTTL)
	}
	this.record = a.After.Value
}

// answered takes the answer to a vote. If the node is in quarantine it begins a vigil, or goes on with one.
func (x *quarantines) answered(of pair, this *voting, a *redis.Asked) {
	since, now := parseGuard(this.record).since, a.Client.ProgramClock().Now()
	can, must := x.run.hears(a)
	v := x.vigils[of]
	if a.Answer == driver.Unanswered {
		if v.isVague = v.isVague || this.isMixed; !slices.Contains(v.vague, this.record) {
			v.vague = append(v.vague, this.record)
		}
		x.vigils[of] = v
	}
	if since == 0 || !can || a.Answer != driver.Quarantined {
		return // or another vote in the same exchange has ended it
	}
	if v.record != this.record {
		v = vigil{record: this.record, from: now, vague: v.vague, isVague: v.isVague}
	}
	switch {
	case this.isMixed:
		v.by = time.Time{}
	case must && v.by.IsZero():
		v.by = now
	}
	x.vigils[of] = v
	// What a command asks for is settled a node timeout before it is sent, at the earliest.
	patience := x.maxTTL + x.run.Lock.NodeTimeout
	if !v.by.IsZero() && this.at.Sub(v.by) >= patience && this.there-since > x.maxTTL &&
		x.run.pauses.hasRun(a.Client, a.Sent.Add(-x.run.Lock.NodeTimeout)) {
		x.run.broken(checker.Contract, x.run.about(a.Keys), "%s has been in quarantine for %v by its clock, %s has watched it for %v, and it goes on", a.Server.Name(),
			this.there-since, a.Client.Name(), this.at.Sub(v.by))
	}
}
