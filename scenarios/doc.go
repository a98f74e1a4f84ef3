// Package scenarios is experiments as files: lock settings, processes, network, a timeline of steps and faults, what is
// claimed and what is expected, and the running and judging of them.
//
// [Catalogue] has the embedded ones, [Load] reads a file, [Run] makes one run on a tier, and [Verify] makes it twice.
//
// To add a scenario: a file in files/.
package scenarios
