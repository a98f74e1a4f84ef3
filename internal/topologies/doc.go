// Package topologies makes docs/topologies.md: which arrangement of Redis servers keeps its locks under which fault, from runs.
// All of it is a test.
package topologies
