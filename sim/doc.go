// Package sim is a deterministic simulator of clients, Redis nodes, clocks and a network: a [World] is one run, made of the
// packages below it.
//
//   - How time passes, and what happens next, is in package kernel.
//   - How a message travels, or does not, is in package network.
//   - What a node does when it stops and starts again is in package redis; packages model and wire are the tiers, which carry
//     out its commands.
//   - The resource that a lock guards is in package storage; lock services of other kinds are in packages consensus and
//     database.
//
// The code under test, package redlock, runs unchanged: a process supplies its clock, tasks and random bytes, a tier its
// nodes.
//
// A run is a pure function of its configuration and seed. Nothing in it reads the wall clock, iterates over a map or starts a
// goroutine that runs beside another, and every random choice is a function of the seed and of what it is for.
//
// Start with [NewWorld].
package sim
