// Package faults is the vocabulary of what can go wrong, and plans that say when it does.
//
// A [Fault] is a struct whose documented fields are its knobs; [Vocabulary] lists all of them. A [Plan] places faults
// on a timeline. A [Budget] says how much of them a protocol must stand; what really happened is kept in [Spent].
//
// To add a fault: a file with its struct and methods, and its line in vocabulary.go.
package faults
