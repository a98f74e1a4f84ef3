// Package systematic injects every fault of the vocabulary at every step of a run, and every two of them. It finds what
// takes one fault or two at a moment at which something happens anyway, and which a random search may miss. Start at
// [Explore].
package systematic
