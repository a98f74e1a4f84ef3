// Package experiment draws experiments: workloads and faults at random, around the settings and the budget of a scenario.
// Start at [NewSpace] and [Space.Draw]; a [Candidate] is an experiment that a search keeps and mutates.
//
// Every choice is named by what it is for, so that taking one fault out moves no other.
package experiment
