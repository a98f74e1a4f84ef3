package spec

import "redlocksim/redlock/observe"

// state is how far an acquisition has come.
type state uint8

const (
	asking    state = iota // the nodes are asked for their votes
	agreed                 // a quorum has voted
	measured               // the clock was read for the second time
	refused                // no quorum can be reached any more
	denied                 // the attempt has failed, and its votes are released
	held                   // the lease lasts
	lost                   // the lease is about to end
	releasing              // the lease is being released
	released               // a quorum of nodes has answered the release, or can no longer
)

func (s state) String() string {
	return [...]string{asking: "an attempt asks the nodes", agreed: "a quorum has voted", measured: "the validity is known",
		refused: "no quorum can be reached", denied: "the attempt has failed", held: "the lease is held", lost: "the lease is lost",
		releasing: "the lease is being released", released: "the lease was released"}[s]
}

// transitions are the steps that each state allows. Late answers come in any state.
var transitions = [...][]observe.Step{
	asking:   {observe.GateAsked, observe.NodeAnswered, observe.QuorumReached, observe.QuorumLost, observe.TokenRaised},
	agreed:   {observe.NodeAnswered, observe.ValidityComputed, observe.Denied},
	measured: {observe.NodeAnswered, observe.Granted, observe.Denied},
	refused:  {observe.NodeAnswered, observe.Denied},
	denied:   {observe.NodeAnswered, observe.TakenBack, observe.Retrying},
	held: {observe.NodeAnswered, observe.Joined, observe.ExtendStarted, observe.QuorumReached, observe.QuorumLost,
		observe.ValidityComputed, observe.Extended, observe.NotExtended, observe.Lost, observe.ReleaseStarted},
	lost: {observe.NodeAnswered, observe.Joined, observe.QuorumReached, observe.QuorumLost, observe.ValidityComputed,
		observe.NotExtended, observe.ReleaseStarted},
	releasing: {observe.NodeAnswered, observe.TakenBack, observe.QuorumReached, observe.QuorumLost, observe.ValidityComputed,
		observe.NotExtended, observe.Released},
	released: {observe.NodeAnswered, observe.TakenBack, observe.QuorumReached, observe.QuorumLost, observe.ValidityComputed,
		observe.NotExtended},
}

func (s state) allows() []observe.Step { return transitions[s] }
