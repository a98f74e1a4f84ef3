package redlock

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// Fencing gives every grant of a resource a number that is higher than those of all earlier grants: [Lease.Token]. Storage that
// rejects a lower token than it has seen is safe from holders that are paused for longer than their lease.
//
// Each node keeps a counter per resource. A client proposes a token with its acquire. A node votes only if the token is above
// its counter, and then sets the counter to it. Two quorums share a node, so no two grants have the same token, and of two
// grants that do not overlap the later one has the higher token.
//
// That holds as long as fewer than w + q − N of the w nodes that voted for the earlier grant have ever lost their counter, with
// N nodes and a quorum of q. With five nodes and a quorum of three, no node may lose its counter; with a quorum of four, two
// may. The restart guard keeps a node from voting for a while, but does not restore its counters.
//
// The client proposes one more than the highest token of the resource that it has proposed or heard of. If that is too low, a
// quorum answers with its counters, and the client proposes a higher token once in the same attempt. Tokens have gaps. The
// largest is 2^53−1, because Redis' scripts compute with floating-point numbers.
//
// Counters must not be deleted or evicted: run the nodes with maxmemory-policy noeviction. A counter that was set far too high
// costs its node the vote for that resource and does no other harm, as long as at most N − q nodes are down or have one: a
// client believes a counter only if N − q + 1 nodes, and at least two, have about that much. To restore the vote, set it to the
// highest counter of the other nodes.
type Fencing struct {
	// CounterTTL is how long a node keeps a counter after its last vote for the resource, a whole number of milliseconds. If
	// nobody locks a resource for longer, or one holder keeps it for longer, its tokens may start again. Zero means 90 days.
	// All clients should have the same.
	CounterTTL time.Duration
}

// defaultCounterTTL is how long nodes keep the counters unless set otherwise.
const defaultCounterTTL = 90 * 24 * time.Hour

// WithFencing gives every grant a fencing token. All clients of a resource must have it, since votes for a client without it
// raise no counter. It costs a second round trip where the first token is too low.
func WithFencing(f Fencing) Option {
	return func(s *settings) error {
		if f.CounterTTL == 0 {
			f.CounterTTL = defaultCounterTTL
		}
		s.counterTTL = f.CounterTTL
		return wholeMilliseconds("counter TTL", f.CounterTTL)
	}
}

// WithTokens takes the fencing tokens from a source that no failure of a node can set back, in place of [WithFencing]'s
// counters on the nodes. Each attempt that a quorum agreed to draws one, and the time that this takes is taken from the
// validity. The source has as long to answer as a node; if it fails, so does the attempt. The error then matches
// [ErrNoToken] and what the source returned, but the error of a context only if the caller's has ended.
//
// Of two grants that do not overlap, the later one has the higher token: it was drawn later. Storage that rejects a lower token
// than it has seen is safe whatever the nodes have forgotten.
func WithTokens(source driver.TokenSource) Option {
	return func(s *settings) error {
		if source == nil {
			return fmt.Errorf("%w: a nil source of tokens", ErrInvalid)
		}
		s.source = source
		return nil
	}
}

// maxToken is the largest number up to which Redis' Lua, which has only doubles, tells any two integers apart.
const maxToken = 1<<53 - 1

// tokens is what a client knows of fencing tokens: for each resource the highest one that it has proposed or can believe. For
// one that it forgot it begins at 1 again, and needs a second round. The zero tokens know nothing.
type tokens struct {
	mu    sync.Mutex
	known recent[string, int64]
}

// propose picks a token that is higher than all known ones of the keys, and at least least, which is at most the largest.
func (t *tokens) propose(keys []string, least int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	token := max(least, 1)
	for _, key := range keys {
		token = max(token, t.of(key)+1)
	}
	t.raise(keys, token)
	return token
}

// learn notes that the keys' counters have reached a token.
func (t *tokens) learn(keys []string, token int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raise(keys, token)
}

// of is the token known for a key. t is locked.
func (t *tokens) of(key string) int64 {
	token, _ := t.known.get(key)
	return token
}

// raise is for t locked. It does not remember the largest token: there is none above it, until the counters are mended, and so
// the nodes are asked.
func (t *tokens) raise(keys []string, token int64) {
	if token >= maxToken {
		return
	}
	for _, key := range keys {
		t.known.put(key, max(t.of(key), token))
	}
}

// A counter that is wrong by far must not be followed: one node whose counter was overwritten would take the resource's
// tokens with it, on all nodes and for good. So counters are believed only as far as enough nodes bear them out, and a
// node that is alone with its own merely has no vote. Safety does not depend on what is believed: it is the nodes' own rule
// that a token must be above their counter.
const (
	// nearCounters is by how much the counters of nodes may differ without being looked at twice. A node that was away for
	// more grants of a resource than that costs an attempt the wait for the answers of all nodes.
	nearCounters = 1 << 16
	// farCounters is by how much they may differ for the higher one to be followed where there is no other way to a quorum:
	// more than a node can have missed, and so little that it can happen two million times.
	farCounters = 1 << 32
)

// noCounter stands for that of a node which has not said what it is.
const noCounter = -1

// witnesses is how many of n nodes bear a counter out: more than the n − q that may be wrong, and two where there are two.
func witnesses(n, quorum int) int { return max(n-quorum+1, min(2, n)) }

// credible is the highest of the counters that so many nodes bear out, itself included, with one that is not lower by more
// than slack. It is 0 if there is none.
func credible(counters []int64, witnesses int, slack int64) int64 {
	var room [MaxNodes]int64
	falling := append(room[:0], counters...)
	slices.SortFunc(falling, func(a, b int64) int { return cmp.Compare(b, a) })
	if len(falling) < witnesses || falling[witnesses-1] == noCounter {
		return 0
	}
	for _, c := range falling {
		if c-slack <= falling[witnesses-1] {
			return c
		}
	}
	return 0
}

// proposal is what the round of an acquire with a fencing token learns of the nodes' counters. It is zero for other rounds.
type proposal struct {
	counters []int64 // of the nodes, as far as they said
	isFirst  bool    // a higher token may be proposed after it
	next     int64   // with errBehind: the token to propose then
}

// begin prepares a round that proposes a token to n nodes; 0 is none.
func (p *proposal) begin(token int64, round, n int) {
	if token == 0 {
		return
	}
	p.isFirst = round == 0
	p.counters = make([]int64, n)
	for i := range p.counters {
		p.counters[i] = noCounter
	}
}

// heard keeps the counter that an answer to an acquire with a token tells of, and returns what can be believed of those that
// others have raised; 0 if nothing can.
func (p *proposal) heard(node int, token int64, reply driver.Reply, quorum int) (believed int64) {
	switch reply.Outcome {
	case driver.Accepted:
		p.counters[node] = token
		return 0
	case driver.Declined, driver.Behind:
		p.counters[node] = reply.Token
	}
	return p.credible(nearCounters, quorum)
}

// credible is what can be believed of the counters that were heard of.
func (p *proposal) credible(slack int64, quorum int) int64 {
	return credible(p.counters, witnesses(len(p.counters), quorum), slack)
}

// beating is a token for which a quorum would vote, as far as the answers say: one above the highest counter that can be
// believed. It is 0 if there is none: if isFinal is not set, the answers that are still to come may change that; otherwise
// a quorum can be had only by following a counter that is alone. The voters are the nodes that would vote for a token that
// is high enough.
func (p *proposal) beating(voters quorum.Set, allAnswered bool, q int) (token int64, isFinal bool) {
	var room [MaxNodes]int64
	rising := room[:0]
	for i := range voters.Each {
		rising = append(rising, p.counters[i])
	}
	if len(rising) < q {
		return 0, false
	}
	slices.Sort(rising)
	enough := rising[q-1] // q nodes vote for what is above this
	if near := p.credible(nearCounters, q); near >= enough {
		return near + 1, true
	}
	if !allAnswered {
		return 0, false
	}
	if p.credible(farCounters, q) >= enough {
		return enough + 1, true
	}
	return 0, true
}
