// Package faults is the vocabulary of what can go wrong, and plans that say when it does.
//
// A [Fault] is a struct whose documented fields are its knobs; its [Kind] says everything else there is to say of it, and
// [Vocabulary] lists all kinds. Faults are injected into a [Ground], a world of the simulator or processes of the operating
// system, through a [Field], which keeps what is in force and how it is undone. A [Plan] places faults on a timeline. A
// [Budget] says how much of them a protocol must stand; what really happened is kept in [Used].
//
// To add a fault: a file with its struct, its methods and its Kind, and one line in vocabulary.go.
package faults
