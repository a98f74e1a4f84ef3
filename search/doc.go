// Package search is what all searches for a schedule that breaks the lock share: running and judging an experiment ([Try]),
// which violation to keep while an experiment changes ([Violation]), the ways to break the lock that are known
// ([Findings]), the kinds of faults that made a difference ([Effects]), and the directory that a search writes to
// ([OpenDir]).
//
// The searches stand side by side. Package random draws experiments and concentrates on near misses and rare states, systematic
// injects every fault at every step of a run, and dpor explores all orders of messages in small worlds. Random and systematic
// hand what they find to package shrink. Package experiment draws and mutates random experiments, for sweeps and property tests
// too.
//
// None of them, nor package attacks, takes the place of another, as seven locks with a known flaw show. Only attacks (0.3 s of
// CPU each) found an extension that a single node makes and a restart that is too early; systematic (4 s) and dpor (11 s), and
// no attack, found votes that a failed attempt leaves; only dpor found GET before SET where nothing goes wrong.
package search
