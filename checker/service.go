package checker

import (
	"slices"
	"sort"
)

// addService counts what the waits for a resource saw, and what each process got. Grants to a process that holds the resource
// already, where it is re-entrant, pass nobody by.
//
// Bypass: the grants, other than its own and than re-entrant ones, between the beginning and the end of the wait. That the
// number is bounded by a function of the number of processes is the bounded bypass of the literature on mutual exclusion
// (Raynal, Concurrent Programming: Algorithms, Principles, and Foundations, 2013, 2.1; Lynch, Distributed Algorithms,
// 1996, 10, counts for each other process apart).
//
// Overtakes: those among them whose own wait began later. Without any, service is first come first served (Lamport, A New
// Solution of Dijkstra's Concurrent Programming Problem, 1974), as seen by the clients: who called first was granted
// first.
func (m *Resource) addService(t *transcript, asked []asking, used []hold, reentrant bool) {
	again, until := map[int]bool{}, map[string]int{}
	for _, u := range used {
		process := t.ops[u.grant].process
		again[u.from] = reentrant && until[process] > u.from
		until[process] = max(until[process], u.to)
	}
	counted := func(a asking) bool { return a.granted && !again[a.to] }
	var granted []int // Seqs, ascending
	shares := map[string]int{}
	for _, a := range asked {
		shares[a.process] += 0 // who was never granted has a share, too
		if counted(a) {
			granted = append(granted, a.to)
			shares[a.process]++
		}
	}
	slices.Sort(granted)
	before := func(seq int) int { return sort.SearchInts(granted, seq) }
	for i, a := range asked {
		overtaken := 0
		for _, later := range asked[i+1:] {
			if later.from > a.to {
				break
			}
			if counted(later) && later.to < a.to {
				overtaken++
			}
		}
		m.Attempts.raise(t, a.attempts, a)
		m.Bypass.raise(t, before(a.to)-before(a.from), a)
		m.Overtakes.raise(t, overtaken, a)
	}
	m.Fairness = jain(shares)
}

// jain is Jain's index of fairness over the numbers of grants of the processes that asked: 1 if all were granted equally
// often, 1/n if one of n was granted and no other, 0 if nobody was (Jain, Chiu and Hawe, A Quantitative Measure of Fairness
// and Discrimination, 1984).
func jain(shares map[string]int) float64 {
	sum, squares := 0, 0
	for _, n := range shares { // sums of integers: their order does not matter
		sum, squares = sum+n, squares+n*n
	}
	if sum == 0 {
		return 0
	}
	return float64(sum*sum) / float64(len(shares)*squares)
}
