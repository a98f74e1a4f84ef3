// Package search is what all searches for a schedule that breaks the lock share: running and judging an experiment ([Try]),
// which violation to keep while an experiment changes ([Violation]), the ways to break the lock that are known
// ([Findings]), the kinds of faults that made a difference ([Effects]), and the directory that a search writes to
// ([OpenDir]).
//
// The searches stand side by side. Package random draws experiments, concentrates on near misses and rare states, and hands
// what it finds to package shrink; dpor explores all orders of messages in small worlds. Package experiment draws and mutates
// random experiments, for sweeps and property tests too.
//
// Neither of them, nor package attacks, takes the place of another, as seven locks with a known flaw show. Only attacks (0.3 s
// of CPU each) found an extension that a single node makes and a restart that is too early; only dpor (11 s) found votes that a
// failed attempt leaves, and GET before SET where nothing goes wrong.
package search
