// Package systematic places every fault of the vocabulary at every step of a run: what a random search may miss, as long as
// it takes one fault, or two, at a moment at which something happens anyway. Start at [Explore].
package systematic
