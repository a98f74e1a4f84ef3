package checker

import (
	"slices"
	"sort"
)

// reentries are the Seqs of grants to processes that were in a critical section on the resource already, where such
// grants are one hold: they pass nobody by.
func reentries(used []use, o Options) map[int]bool {
	again := map[int]bool{}
	for _, u := range used {
		if o.Reentrant && u.again {
			again[u.from] = true
		}
	}
	return again
}

// bypasses finds the wait that most grants to others passed by, and the one that was overtaken most.
//
// Bypass: the grants, other than its own and than re-entrant ones, between the beginning and the end of the wait. That the
// number is bounded by a function of the number of processes is the bounded bypass of the literature on mutual exclusion
// (Raynal, Concurrent Programming: Algorithms, Principles, and Foundations, 2013, 2.1; Lynch, Distributed Algorithms,
// 1996, 10, counts for each other process apart).
//
// Overtakes: those among them whose own wait began later. Without any, service is first come first served (Lamport, A New
// Solution of Dijkstra's Concurrent Programming Problem, 1974), as seen by the clients: who called first was granted
// first.
func bypasses(t *transcript, asked []asking, again map[int]bool) (bypass, overtakes Count) {
	counted := func(a asking) bool { return a.granted && !again[a.to] }
	var granted []int // Seqs, ascending
	for _, a := range asked {
		if counted(a) {
			granted = append(granted, a.to)
		}
	}
	slices.Sort(granted)
	before := func(seq int) int { return sort.SearchInts(granted, seq) }
	later := newTally(len(granted)) // of grants whose wait began later
	overtaken := make([]int, len(asked))
	for i, a := range slices.Backward(asked) {
		overtaken[i] = later.below(before(a.to))
		if counted(a) {
			later.add(before(a.to))
		}
	}
	for i, a := range asked {
		bypass.raise(t, before(a.to)-before(a.from), a)
		overtakes.raise(t, overtaken[i], a)
	}
	return bypass, overtakes
}

// tally counts places, and says in logarithmic time how many are below one: a Fenwick tree.
type tally []int

func newTally(places int) tally { return make(tally, places+1) }

func (y tally) add(place int) {
	for i := place + 1; i < len(y); i += i & -i {
		y[i]++
	}
}

func (y tally) below(place int) int {
	n := 0
	for i := place; i > 0; i -= i & -i {
		n += y[i]
	}
	return n
}

// jain is Jain's index of fairness over the numbers of grants, re-entrant ones left out, of the processes that asked: 1
// if all were granted equally often, 1/n if one of n was granted and no other, 0 if nobody was (Jain, Chiu and Hawe, A
// Quantitative Measure of Fairness and Discrimination, 1984).
func jain(asked []asking, again map[int]bool) float64 {
	shares := map[string]int{}
	for _, a := range asked {
		n := 0
		if a.granted && !again[a.to] {
			n = 1
		}
		shares[a.process] += n
	}
	sum, squares := 0, 0
	for _, n := range shares { // sums of integers: their order does not matter
		sum, squares = sum+n, squares+n*n
	}
	if sum == 0 {
		return 0
	}
	return float64(sum*sum) / float64(len(shares)*squares)
}
