package redlock

import (
	"testing"

	"pgregory.net/rapid"

	"redlocksim/redlock/driver"
)

func TestMajority(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4, 63: 32, 64: 33} {
		if got := Majority(n); got != want {
			t.Errorf("Majority(%d) = %d, want %d", n, got, want)
		}
	}
}

// A ballot is written with one letter a node: y(es), n(o), t(imed out), r(efused), f(ailed), b(ehind), q(uarantined), - (nothing yet).
func TestBallot(t *testing.T) {
	for _, c := range []struct {
		ballot        string
		quorum        int
		reached, lost bool
		replied       int
	}{
		{"-", 1, false, false, 0},
		{"y", 1, true, false, 1},
		{"n", 1, false, true, 1},
		{"t", 1, false, true, 0},
		{"y-", 2, false, false, 1},
		{"yn", 2, false, true, 2},
		{"yy-", 2, true, false, 2},
		{"yn-", 2, false, false, 2},
		{"nn-", 2, false, true, 2},
		{"yynn", 3, false, true, 4},
		{"yyn-", 3, false, false, 3},
		{"yyy--", 3, true, false, 3},
		{"yynn-", 3, false, false, 4},
		{"nnn--", 3, false, true, 3},
		{"ntr--", 3, false, true, 1},
		{"yyfrt", 3, false, true, 3},
		{"yyytt", 3, true, false, 3},
		{"yyy--", 4, false, false, 3},
		{"yyynn", 4, false, true, 5},
		{"yyyy-", 5, false, false, 4},
		{"n----", 5, false, true, 1},
		{"bqytr", 3, false, true, 3},
		{"bbqq-", 1, false, false, 4},
	} {
		b := ballotOf(c.ballot)
		if b.reached(c.quorum) != c.reached || b.lost(c.quorum) != c.lost || b.replied().len() != c.replied {
			t.Errorf("%s with quorum %d: reached %v, lost %v, replied %d; want %v, %v, %d", c.ballot, c.quorum,
				b.reached(c.quorum), b.lost(c.quorum), b.replied().len(), c.reached, c.lost, c.replied)
		}
	}
}

// Whether it may turn out that a higher token would win a quorum.
func TestBeatableYet(t *testing.T) {
	for _, c := range []struct {
		ballot string
		quorum int
		want   bool
	}{
		{"b--", 2, true}, {"bb-", 2, true}, {"yb-", 2, true}, {"bnn", 2, false}, {"bn-", 2, true}, {"bqf", 2, false}, {"btr", 2, false},
		{"bbbb-", 5, true}, {"bbbbn", 5, false},
	} {
		if b := ballotOf(c.ballot); b.beatableYet(c.quorum) != c.want {
			t.Errorf("%s with quorum %d: %v", c.ballot, c.quorum, !c.want)
		}
	}
}

var letters = map[byte]driver.Outcome{'y': driver.Accepted, 'n': driver.Declined, 't': driver.TimedOut, 'r': driver.Refused, 'f': driver.Failed, 'b': driver.Behind, 'q': driver.Quarantined}

func ballotOf(s string) ballot {
	b := ballot{asked: allNodes(len(s))}
	for i := range len(s) {
		if o, ok := letters[s[i]]; ok {
			b.record(i, o)
		}
	}
	return b
}

// Two sets of nodes of quorum size have a node in common, and one node fewer is not enough for that.
func TestQuorumsIntersect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, MaxNodes).Draw(t, "n")
		q := rapid.IntRange(Majority(n), n).Draw(t, "quorum")
		one, other := drawNodes(t, n, q, "one"), drawNodes(t, n, q, "other")
		if one.len() != q || other.len() != q {
			t.Fatalf("drew %d and %d nodes, not %d", one.len(), other.len(), q)
		}
		if one&other == 0 {
			t.Fatalf("%b and %b of %d nodes are disjoint quorums of %d", one, other, n, q)
		}
		if 2*(Majority(n)-1) > n {
			t.Fatalf("%d of %d nodes would already be a quorum", Majority(n)-1, n)
		}
	})
}

func drawNodes(t *rapid.T, n, size int, label string) nodeSet {
	var indexes []int
	for i := range n {
		indexes = append(indexes, i)
	}
	var s nodeSet
	for _, i := range rapid.Permutation(indexes).Draw(t, label)[:size] {
		s = s.with(i)
	}
	return s
}

// A ballot is lost exactly if no answers of the nodes that are pending can make it reach the quorum.
func TestLostMeansOutOfReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		q := rapid.IntRange(Majority(n), n).Draw(t, "quorum")
		s := rapid.SliceOfN(rapid.SampledFrom([]byte("yntrfbq----")), n, n).Draw(t, "ballot")
		b := ballotOf(string(s))
		if b.reached(q) && b.lost(q) {
			t.Fatalf("%s is both reached and lost with quorum %d", s, q)
		}
		reachable := false
		pending := b.pending()
		for vote := range nodeSet(1) << n {
			if vote.without(pending) == 0 && (b.accepted|vote).len() >= q {
				reachable = true
			}
		}
		if b.lost(q) == reachable {
			t.Fatalf("%s with quorum %d: lost %v, though out of reach is %v", s, q, b.lost(q), !reachable)
		}
	})
}

func TestAllNodes(t *testing.T) {
	for n := 1; n <= MaxNodes; n++ {
		s := allNodes(n)
		if s.len() != n || !s.has(n-1) || (n < MaxNodes && s.has(n)) {
			t.Errorf("allNodes(%d) = %b", n, s)
		}
	}
}
