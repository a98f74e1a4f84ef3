package protocols

import "redlocksim/internal/strictyaml"

// Cleanup is what a client does about its votes when it was not granted the lock.
type Cleanup uint8

const (
	// CleanupCompareAndDelete deletes the keys that hold the client's value: the rule.
	CleanupCompareAndDelete Cleanup = iota
	// CleanupDel deletes the key on all nodes, whoever's it is.
	CleanupDel
	// NoCleanup leaves its votes to expire.
	NoCleanup
	// CleanupVoters is the rule on the nodes only that were heard to vote for the client.
	CleanupVoters
	// CleanupAtEnd is the rule once the call gives up, and nothing between its attempts.
	CleanupAtEnd
)

var cleanups = []strictyaml.Choice[Cleanup]{
	{Word: "cad", Value: CleanupCompareAndDelete}, {Word: "voters", Value: CleanupVoters},
	{Word: "at-end", Value: CleanupAtEnd}, {Word: "del", Value: CleanupDel}, {Word: "none", Value: NoCleanup}}

// UnmarshalScalar reads what a client does about its votes.
func (c *Cleanup) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "clean-up", c, cleanups)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (c Cleanup) MarshalScalar() (string, error) {
	return strictyaml.WordOf(c, "clean-up", cleanups)
}

// Asking is the order in which nodes are asked.
type Asking uint8

const (
	// Parallel asks all nodes at once, and waits for each: the rule.
	Parallel Asking = iota
	// Sequential asks one node after the other, and waits for each.
	Sequential
	// UntilDecided asks all nodes at once, and waits until a quorum has said yes, or no. If nodes are of even number and
	// half of them say each, it waits for ever.
	UntilDecided
)

var orders = []strictyaml.Choice[Asking]{{Word: "parallel", Value: Parallel},
	{Word: "until-decided", Value: UntilDecided}, {Word: "sequential", Value: Sequential}}

// UnmarshalScalar reads the order in which nodes are asked.
func (a *Asking) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "order", a, orders)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (a Asking) MarshalScalar() (string, error) {
	return strictyaml.WordOf(a, "order", orders)
}

// Extending is how a lock is extended.
type Extending uint8

const (
	// ExtendQuorum extends the keys that hold the client's value and asks for a quorum of them: the rule.
	ExtendQuorum Extending = iota
	// ExtendAnyNode takes the extension for good when a single node has extended.
	ExtendAnyNode
	// ExtendFromReplies counts the new validity from the replies, however long they took.
	ExtendFromReplies
	// ExtendSet sets the key again, also where it is gone or another's.
	ExtendSet
	// ExtendReCreate sets the key again where it is gone or the client's.
	ExtendReCreate
)

var waysToExtend = []strictyaml.Choice[Extending]{{Word: "quorum", Value: ExtendQuorum},
	{Word: "any-node", Value: ExtendAnyNode}, {Word: "from-replies", Value: ExtendFromReplies},
	{Word: "re-create", Value: ExtendReCreate}, {Word: "set", Value: ExtendSet}}

// UnmarshalScalar reads how a lock is extended.
func (e *Extending) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "way to extend", e, waysToExtend)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (e Extending) MarshalScalar() (string, error) {
	return strictyaml.WordOf(e, "way to extend", waysToExtend)
}

// Tokens is where redlock-plain has its fencing tokens from: from counters on the nodes, in ways that do not work.
type Tokens uint8

const (
	// NoTokens: there are none.
	NoTokens Tokens = iota
	// TokenBefore draws from a counter on the first node before the lock is won.
	TokenBefore
	// TokenOneNode draws from a counter on the first node once the lock is won.
	TokenOneNode
	// TokenPerNode raises a counter on each node at every attempt and takes the highest answer.
	TokenPerNode
)

var tokenSources = []strictyaml.Choice[Tokens]{{Word: "none", Value: NoTokens},
	{Word: "before", Value: TokenBefore}, {Word: "one-node", Value: TokenOneNode}, {Word: "per-node", Value: TokenPerNode}}

// UnmarshalScalar reads where tokens are from.
func (k *Tokens) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "source of tokens", k, tokenSources)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (k Tokens) MarshalScalar() (string, error) {
	return strictyaml.WordOf(k, "source of tokens", tokenSources)
}

// Rounding is how half of the nodes and one are rounded.
type Rounding uint8

const (
	// RoundDown gives the majority: the rule.
	RoundDown Rounding = iota
	// RoundUp gives one more than that where the number of nodes is odd: 4 of 5.
	RoundUp
)

var roundings = []strictyaml.Choice[Rounding]{{Word: "down", Value: RoundDown}, {Word: "up", Value: RoundUp}}

// UnmarshalScalar reads how to round.
func (r *Rounding) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "rounding", r, roundings)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (r Rounding) MarshalScalar() (string, error) {
	return strictyaml.WordOf(r, "rounding", roundings)
}

// Value is what a value is drawn for.
type Value uint8

const (
	// PerAttempt draws a value for every attempt, so that what an earlier one left behind is another's.
	PerAttempt Value = iota
	// PerCall draws a value for a call and keeps it for all of its attempts.
	PerCall
)

var draws = []strictyaml.Choice[Value]{{Word: "attempt", Value: PerAttempt}, {Word: "call", Value: PerCall}}

// UnmarshalScalar reads what a value is drawn for.
func (v *Value) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "draw of values", v, draws)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (v Value) MarshalScalar() (string, error) {
	return strictyaml.WordOf(v, "draw of values", draws)
}

// Validity is whether a client looks at how much of its lease is left.
type Validity uint8

const (
	// Checked: a lease of which nothing is left is not granted or extended: the rule.
	Checked Validity = iota
	// Unchecked: the lease is handed out with the end that it has, also if that is past.
	Unchecked
)

var waysWithValidity = []strictyaml.Choice[Validity]{{Word: "checked", Value: Checked}, {Word: "unchecked", Value: Unchecked}}

// UnmarshalScalar reads whether validity is looked at.
func (v *Validity) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "way with validity", v, waysWithValidity)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (v Validity) MarshalScalar() (string, error) {
	return strictyaml.WordOf(v, "way with validity", waysWithValidity)
}

// FailedNode is what a client makes of a node that fails when it is asked for its vote.
type FailedNode uint8

const (
	// NoVote: it has not voted: the rule.
	NoVote FailedNode = iota
	// FailsGrant: it has not voted, and if the others were a quorum the call fails all the same and leaves its votes.
	FailsGrant
	// EndsCall: the call fails there and then, asks no other node, and leaves its votes.
	EndsCall
)

var waysWithFailedNode = []strictyaml.Choice[FailedNode]{
	{Word: "no-vote", Value: NoVote}, {Word: "fails-grant", Value: FailsGrant}, {Word: "ends-call", Value: EndsCall}}

// UnmarshalScalar reads what a client makes of a node that fails.
func (f *FailedNode) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "way with a failed node", f, waysWithFailedNode)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (f FailedNode) MarshalScalar() (string, error) {
	return strictyaml.WordOf(f, "way with a failed node", waysWithFailedNode)
}

// FailedRelease is what a client does when a node fails while it releases or cleans up.
type FailedRelease uint8

const (
	// GoOn: it releases the other nodes: the rule.
	GoOn FailedRelease = iota
	// Stop: it leaves the nodes behind it to expire.
	Stop
)

var waysWithFailedRelease = []strictyaml.Choice[FailedRelease]{{Word: "go-on", Value: GoOn}, {Word: "stop", Value: Stop}}

// UnmarshalScalar reads what a client does when a node fails while it releases.
func (f *FailedRelease) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "way with a failed release", f, waysWithFailedRelease)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (f FailedRelease) MarshalScalar() (string, error) {
	return strictyaml.WordOf(f, "way with a failed release", waysWithFailedRelease)
}
