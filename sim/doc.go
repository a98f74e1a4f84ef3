// Package sim is a deterministic simulator of clients, Redis nodes, clocks and a network.
//
// One run is one thread of control: a queue of events ordered by true time and sequence, and processes as coroutines
// that give up control only where they wait. The code under test, package redlock, runs unchanged: a [Process] supplies
// its Clock, Tasks and Rand, a [Backend] its nodes.
//
// A run is a pure function of its configuration and seed. Nothing in this package reads the wall clock, iterates over a
// map or starts a goroutine that runs beside another; every random choice is a function of the seed and of what it is
// for (see [Kernel.Draw]), so that taking one fault away moves no other choice.
//
// Start with [NewWorld].
package sim
