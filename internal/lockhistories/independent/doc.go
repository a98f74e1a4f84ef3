// Package independent judges histories of locks a second time, to compare the verdicts of redlocksim check with.
//
// Its tests implement the models of the section "What redlocksim check allows" of docs/checker.md, from that text alone:
// nothing here comes from checker/foreign, and the two share no code. It tries every choice that the definition leaves
// open, so it is slow, and right if the text is read right.
//
//	go test ./internal/lockhistories/independent -run Alike -v -timeout 0 -histories 500000
package independent
