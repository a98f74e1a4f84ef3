// Package observe reports what package redlock does, for metrics, tracing and logs. An [Observer] given to redlock.WithObserver
// receives an [Event] for every [Step] of the algorithm.
//
// Ready-made observers are [redlocksim/redlock/observe/redlockslog] (logs), [redlocksim/redlock/observe/redlockprom] (metrics),
// [redlocksim/redlock/observe/redlockotel] (spans) and [redlocksim/redlock/observe/redlockhistory] (histories to check).
package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"redlocksim/redlock/driver"
)

// Observer receives the algorithm's steps.
//
// Observe runs on the goroutine of the call it describes, which waits for it. Steps outside of any call (Lost, and
// NodeAnswered, Joined and TakenBack for answers that arrive after the call returned) run on the goroutine that noticed them.
// It must be safe for concurrent use. It may use the client and the lease, since no lock is held. ctx carries the values of the
// call's context.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// All combines observers: each receives every step, in this order. Nil ones are skipped.
func All(all ...Observer) Observer {
	return several(slices.DeleteFunc(slices.Clone(all), func(o Observer) bool { return o == nil }))
}

type several []Observer

func (all several) Observe(ctx context.Context, e Event) {
	for _, o := range all {
		o.Observe(ctx, e)
	}
}

// Step is a step of the algorithm.
type Step uint8

const (
	// AttemptStarted: a value is drawn and the clock is about to be read for the first time.
	AttemptStarted Step = iota + 1
	// NodeAnswered: the outcome of one node in a round is settled.
	NodeAnswered
	// QuorumReached: a quorum of nodes did what was asked. The clock has not been read again yet.
	QuorumReached
	// QuorumLost: no quorum can be reached any more, or the caller's context ended first.
	QuorumLost
	// TokenRaised: a quorum of nodes would vote for a higher fencing token than the one proposed. That is about to be proposed
	// to all nodes, in the same attempt.
	TokenRaised
	// ValidityComputed: the clock has been read for the second time, in an acquire or extend.
	ValidityComputed
	// Granted: the acquire succeeded; the call is about to return the lease.
	Granted
	// Denied: the attempt failed; the release of its partial votes is about to be sent.
	Denied
	// Retrying: the next attempt waits for Delay, and until the nodes that have voted have answered the release.
	Retrying
	// GaveUp: the call is about to return without a grant. One of package semaphore is told of with the name of the semaphore,
	// and without Value, Call and Attempt: its looks for permits are calls of their own.
	GaveUp
	// ExtendStarted: an extend is about to be sent.
	ExtendStarted
	// Extended: the lease is valid until the new Until.
	Extended
	// NotExtended: the extend failed; Until is as before.
	NotExtended
	// Lost: the lease is about to end, and was not released. Its context is cancelled.
	Lost
	// ReleaseStarted: the holder releases the lock. Its context is cancelled, and the release is about to be sent.
	ReleaseStarted
	// Released: a quorum of nodes has answered the release, or can no longer.
	Released
	// Joined: a vote that arrived after the decision counts for the lease: told when it arrives, or with the grant if it came
	// before that.
	Joined
	// TakenBack: a vote that arrived after the release began or the attempt failed is released, and so is a key that a node has
	// set without the replicas that a vote needs.
	TakenBack
	// Queued: the call is about to wait for earlier callers of the same client, and for the end of this client's lease on the
	// same resources. Before the first attempt, Value and Call are the value that it will have, and Attempt is 0.
	Queued
	// Yielding: the call has its turn and still waits for Delay: so that other processes get theirs, or because the caller
	// before it asked a moment ago and gave up.
	Yielding
	// GateAsked: one node is about to be asked for its vote before the others, which are asked only if it votes.
	GateAsked
)

var stepNames = [...]string{
	AttemptStarted: "attempt-started", NodeAnswered: "node-answered", QuorumReached: "quorum-reached",
	QuorumLost: "quorum-lost", TokenRaised: "token-raised", ValidityComputed: "validity-computed", Granted: "granted", Denied: "denied",
	Retrying: "retrying", GaveUp: "gave-up", ExtendStarted: "extend-started", Extended: "extended", NotExtended: "not-extended",
	Lost: "lost", ReleaseStarted: "release-started", Released: "released", Joined: "joined", TakenBack: "taken-back",
	Queued: "queued", Yielding: "yielding", GateAsked: "gate-asked",
}

// String gives the step's name in lower case with hyphens, "attempt-started".
func (s Step) String() string {
	if int(s) < len(stepNames) && stepNames[s] != "" {
		return stepNames[s]
	}
	return fmt.Sprintf("Step(%d)", uint8(s))
}

// Steps lists all steps in the order in which they are declared.
func Steps() []Step {
	var steps []Step
	for s := AttemptStarted; int(s) < len(stepNames); s++ {
		steps = append(steps, s)
	}
	return steps
}

// NodeOutcome is the outcome of a round on one node.
type NodeOutcome struct {
	Node    string
	Outcome driver.Outcome
	Err     error         // why, for TimedOut, Refused and Failed
	Took    time.Duration // from the start of the round (of an acquire, the first) to the answer; zero if Unanswered
}

// Event is one step. Fields that do not belong to it are zero.
type Event struct {
	Step     Step
	Op       driver.Op // the operation under way
	Resource string
	Value    string // the acquisition's unique value
	Attempt  int    // which attempt of the call, from 1; 0 before the first
	Call     string // identifies the call and its lease: the value of the first attempt

	// NodeAnswered: a node's outcome; Joined and TakenBack: the outcome that led to it; GateAsked: the node.
	Node NodeOutcome
	Late bool // the answer came after the decision

	// QuorumReached, QuorumLost and Released: how many of the nodes said yes, and how many had to.
	Accepted, Quorum int

	// ValidityComputed, Granted, Extended: the validity left, and when it ends; Lost: when it ends.
	Validity time.Duration
	Until    time.Time

	Token int64         // TokenRaised and Granted, with fencing
	Delay time.Duration // Retrying and Yielding
	Err   error         // QuorumLost, Denied, Retrying, GaveUp, NotExtended, Released: why; nil for a full success
}

// Fingerprint stands for a lock value in logs and traces: the first 12 hexadecimal digits of its SHA-256. Whoever has the value
// itself can release the lock.
func Fingerprint(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:6])
}
