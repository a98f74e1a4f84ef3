package quorum

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/redlock/driver"
)

func TestMajority(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4, 63: 32, 64: 33} {
		if got := Majority(n); got != want {
			t.Errorf("Majority(%d) = %d, want %d", n, got, want)
		}
	}
}

// A ballot is written with one letter a node: y(es), n(o), t(imed out), r(efused), f(ailed), b(ehind), q(uarantined), -
// (nothing yet).
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
		if b.Reached(c.quorum) != c.reached || b.Lost(c.quorum) != c.lost || b.Replied().Len() != c.replied {
			t.Errorf("%s with quorum %d: reached %v, lost %v, replied %d; want %v, %v, %d", c.ballot, c.quorum,
				b.Reached(c.quorum), b.Lost(c.quorum), b.Replied().Len(), c.reached, c.lost, c.replied)
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
		if b := ballotOf(c.ballot); b.BeatableYet(c.quorum) != c.want {
			t.Errorf("%s with quorum %d: %v", c.ballot, c.quorum, !c.want)
		}
	}
}

var letters = map[byte]driver.Outcome{'y': driver.Accepted, 'n': driver.Declined, 't': driver.TimedOut, 'r': driver.Refused, 'f': driver.Failed, 'b': driver.Behind, 'q': driver.Quarantined}

func ballotOf(s string) Ballot {
	b := Ballot{Asked: All(len(s))}
	for i := range len(s) {
		if o, ok := letters[s[i]]; ok {
			b.Record(i, o)
		}
	}
	return b
}

// Two sets of nodes of quorum size have a node in common, and one node fewer is not enough for that.
func TestQuorumsIntersect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, Max).Draw(t, "n")
		q := rapid.IntRange(Majority(n), n).Draw(t, "quorum")
		one, other := drawNodes(t, n, q, "one"), drawNodes(t, n, q, "other")
		if one.Len() != q || other.Len() != q {
			t.Fatalf("drew %d and %d nodes, not %d", one.Len(), other.Len(), q)
		}
		if one&other == 0 {
			t.Fatalf("%b and %b of %d nodes are disjoint quorums of %d", one, other, n, q)
		}
		if 2*(Majority(n)-1) > n {
			t.Fatalf("%d of %d nodes would already be a quorum", Majority(n)-1, n)
		}
	})
}

func drawNodes(t *rapid.T, n, size int, label string) (s Set) {
	for _, i := range rapid.Permutation(slices.Collect(All(n).Each)).Draw(t, label)[:size] {
		s = s.With(i)
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
		if b.Reached(q) && b.Lost(q) {
			t.Fatalf("%s is both reached and lost with quorum %d", s, q)
		}
		reachable := false
		pending := b.Pending()
		for vote := range Set(1) << n {
			if vote.Without(pending) == 0 && (b.Accepted|vote).Len() >= q {
				reachable = true
			}
		}
		if b.Lost(q) == reachable {
			t.Fatalf("%s with quorum %d: lost %v, though out of reach is %v", s, q, b.Lost(q), !reachable)
		}
	})
}

func TestAllNodes(t *testing.T) {
	for n := 1; n <= Max; n++ {
		s := All(n)
		if s.Len() != n || !s.Has(n-1) || (n < Max && s.Has(n)) {
			t.Errorf("All(%d) = %b", n, s)
		}
	}
}
